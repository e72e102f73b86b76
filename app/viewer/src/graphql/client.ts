/** Requests and live updates, both over `/graphql`. */
import {
  Client,
  type CombinedError,
  fetchExchange,
  stringifyDocument,
  type TypedDocumentNode,
} from '@urql/core'
import { createClient } from 'graphql-ws'

const http = new Client({ url: '/graphql', preferGetMethod: false, exchanges: [fetchExchange] })

/** Why a request got no answer, in words for the person who reads. */
export class RequestError extends Error {
  constructor(
    message: string,
    /** The server's code for it; docs/schema.md lists them. */
    readonly code: string | null = null,
  ) {
    super(message)
  }
}

/** Ask once; nothing is cached here, each store keeps what it needs. */
export async function request<Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const answer = await http.query(document, variables, { requestPolicy: 'network-only' }).toPromise()
  const [first] = answer.error?.graphQLErrors ?? []
  if (first) throw new RequestError(first.message, String(first.extensions?.code ?? ''))
  if (answer.error || !answer.data) throw new RequestError(withoutAnswer(answer.error))
  return answer.data
}

/** What there was instead of an answer: nothing, or what is none (of a proxy, say). */
function withoutAnswer(error: CombinedError | undefined): string {
  const response: Response | undefined = error?.response
  if (error && !response) return 'The server could not be reached.'
  return response && !response.ok
    ? `The server answered with status ${response.status}.`
    : 'The answer of the server could not be read.'
}

type Connection = 'connected' | 'lost'
const watchers = new Set<(state: Connection) => void>()
const tell = (state: Connection) => {
  for (const watcher of watchers) watcher(state)
}

const socket = createClient({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: () => true,
  // Half a second at first, five at most, each a little different among many browsers.
  retryWait: (retries) =>
    new Promise((resolve) =>
      setTimeout(resolve, Math.min(5000, 500 * 2 ** retries) * (0.75 + Math.random() / 2)),
    ),
  keepAlive: 15_000,
  on: { connected: () => tell('connected'), closed: () => tell('lost') },
})

/** Be told when the live connection is made or lost; returns how to stop. */
export function watchConnection(watcher: (state: Connection) => void): () => void {
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
  }
}

/**
 * Follow a subscription until the returned function is called.
 *
 * `variables` is asked again at each connection, so that it can name the last cursor. `refused` is told when the
 * server ends it, with its reason.
 */
export function follow<Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: () => Variables,
  next: (data: Data) => void,
  refused: (reason: string) => void,
): () => void {
  const payload = {
    query: stringifyDocument(document),
    get variables() {
      return variables()
    },
  }
  return socket.subscribe<Data>(payload, {
    next: (result) => {
      if (result.errors?.[0]) refused(result.errors[0].message)
      if (result.data) next(result.data)
    },
    error: (error) => refused(Array.isArray(error) ? error[0].message : 'The connection was refused.'),
    complete: () => undefined,
  })
}
