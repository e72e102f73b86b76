/** Requests and live updates, both over `/graphql`. */
import type { Client, ExecutionResult } from 'graphql-ws'
import { parseExactly } from '../interface/exactJson'
import { type Document, textOf } from './graphql'

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

interface Answer<Data> {
  data?: Data | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** Ask once; nothing is cached here, each store keeps what it needs. */
export async function request<Data, Variables extends Record<string, unknown>>(
  document: Document<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const response = await send(JSON.stringify({ ...textOf(document), variables }))
  const answer = await response
    .text()
    .then((text) => parseExactly(text) as Answer<Data>)
    .catch(() => null)
  const [first] = answer?.errors ?? []
  if (first) throw new RequestError(first.message, first.extensions?.code)
  if (answer?.data) return answer.data
  // It is no answer of this server, but of a proxy, say.
  throw new RequestError(
    response.ok
      ? 'The answer of the server could not be read.'
      : `The server answered with status ${response.status}.`,
  )
}

async function send(body: string): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json;q=0.9',
  }
  try {
    return await fetch('/graphql', { method: 'POST', headers, body })
  } catch {
    throw new RequestError('The server could not be reached.')
  }
}

type Connection = 'connected' | 'lost'
const watchers = new Set<(state: Connection) => void>()
const tell = (state: Connection) => {
  for (const watcher of watchers) watcher(state)
}

// It comes when there is something to follow: what is shown first does without.
let connecting: Promise<Client> | null = null
const connect = async () =>
  (await import('graphql-ws')).createClient({
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
  document: Document<Data, Variables>,
  variables: () => Variables,
  next: (data: Data) => void,
  refused: (reason: string) => void,
): () => void {
  const payload = {
    ...textOf(document),
    get variables() {
      return variables()
    },
  }
  const sink = {
    next: (result: ExecutionResult<Data, unknown>) => {
      if (result.errors?.[0]) refused(result.errors[0].message)
      if (result.data) next(result.data)
    },
    error: (error: unknown) =>
      refused(Array.isArray(error) ? error[0].message : 'The connection was refused.'),
    complete: () => undefined,
  }
  let stop: (() => void) | null = null
  let stopped = false
  connecting ??= connect()
  void connecting.then((socket) => {
    if (!stopped) stop = socket.subscribe<Data>(payload, sink)
  })
  return () => {
    stopped = true
    stop?.()
  }
}
