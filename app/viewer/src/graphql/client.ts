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

/**
 * So long may a server say nothing: three times what it gives an operation by default, so that what it ends by itself is
 * told in its own words. A long answer may take longer, as long as more of it comes.
 */
const SILENT_MS = 30_000

/**
 * Ask once; nothing is cached here, each store keeps what it needs.
 *
 * Raises: a `RequestError`, also where no answer comes.
 */
export async function request<Data, Variables extends Record<string, unknown>>(
  document: Document<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const silence = new Silence()
  try {
    const response = await send(JSON.stringify({ ...textOf(document), variables }), silence)
    return dataOf<Data>(response, await textFrom(response, silence))
  } finally {
    silence.end()
  }
}

/** Gives up a request once nothing of its answer has come for too long. */
class Silence {
  private readonly controller = new AbortController()
  readonly signal = this.controller.signal
  private timer = this.wait()

  /** Something came. */
  broken(): void {
    clearTimeout(this.timer)
    this.timer = this.wait()
  }

  end(): void {
    clearTimeout(this.timer)
  }

  private wait(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.controller.abort(), SILENT_MS)
  }
}

/** Return the text of an answer, or nothing where it breaks off. */
async function textFrom(response: Response, silence: Silence): Promise<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  const texts: string[] = []
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      silence.broken()
      texts.push(decoder.decode(read.value, { stream: true }))
    }
  } catch {
    if (silence.signal.aborted) throw silent()
    return ''
  }
  return texts.join('') + decoder.decode()
}

function silent(): RequestError {
  return new RequestError(`The server has not answered for ${SILENT_MS / 1000} seconds.`)
}

function dataOf<Data>(response: Response, text: string): Data {
  const answer = parse<Data>(text)
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

function parse<Data>(text: string): Answer<Data> | null {
  try {
    return parseExactly(text) as Answer<Data>
  } catch {
    return null
  }
}

async function send(body: string, { signal }: Silence): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json;q=0.9',
  }
  try {
    return await fetch('/graphql', { method: 'POST', headers, body, signal })
  } catch {
    if (signal.aborted) throw silent()
    throw new RequestError('The server could not be reached.')
  }
}

/** So long may a connection be away before that is told: it may be another's turn, or a short restart. */
const GRACE_MS = 1000
/** So long a connection that nothing is followed over is kept, for what is shown next. */
const KEPT_MS = 5000

const watchers = new Set<() => void>()
const tellers = new Set<() => void>()
let connected = false
let lost = false
let following = 0
let waiting: ReturnType<typeof setTimeout> | undefined

function tellConnected(): void {
  clearTimeout(waiting)
  waiting = undefined
  connected = true
  setLost(false)
  for (const watcher of watchers) watcher()
}

function tellClosed(): void {
  connected = false
  waiting ??= setTimeout(() => {
    waiting = undefined
    if (following) setLost(true)
  }, GRACE_MS)
}

function setLost(now: boolean): void {
  lost = now
  for (const teller of tellers) teller()
}

function count(by: 1 | -1): void {
  following += by
  // Nobody misses a connection over which nothing is followed.
  if (following === 0 || (by === 1 && following === 1)) {
    clearTimeout(waiting)
    waiting = undefined
  }
  if (following === 0) setLost(false)
}

// It comes when there is something to follow: what is shown first does without.
let connecting: Promise<Client> | null = null
const connect = async () =>
  (await maker())({
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    // Half a second at first, five at most, each a little different among many browsers.
    retryWait: (retries) =>
      new Promise((resolve) =>
        setTimeout(resolve, Math.min(5000, 500 * 2 ** retries) * (0.75 + Math.random() / 2)),
      ),
    keepAlive: 15_000,
    lazyCloseTimeout: KEPT_MS,
    on: { connected: tellConnected, closed: tellClosed },
  })

/** What a connection is made with; it is asked for until it comes, as the connection itself is. */
async function maker(): Promise<typeof import('graphql-ws').createClient> {
  for (let wait = 500; ; wait = Math.min(5000, 2 * wait)) {
    try {
      // By its name, so that the rest of theirs is left out of the build.
      return (await import('graphql-ws')).createClient
    } catch {
      tellClosed()
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

/** Have at hand what a live connection is made with, for what is followed from the start. */
export function prepareToFollow(): void {
  connecting ??= connect()
}

/** Whether the live connection is there, so that what happens from now on is told. */
export function isConnected(): boolean {
  return connected
}

/** Be told each time the live connection is made; returns how to stop. */
export function watchConnection(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
  }
}

/** Whether something is followed, and the server cannot be reached for it. */
export function isLost(): boolean {
  return lost
}

/** Be told when `isLost` may have changed; returns how to stop. */
export function watchLoss(teller: () => void): () => void {
  tellers.add(teller)
  return () => {
    tellers.delete(teller)
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
  let stop: (() => void) | null = null
  let ended = false
  const end = () => {
    if (!ended) count(-1)
    ended = true
  }
  const sink = {
    next: (result: ExecutionResult<Data, unknown>) => {
      if (result.errors?.[0]) refused(result.errors[0].message)
      if (result.data) next(result.data)
    },
    error: (error: unknown) => {
      end()
      refused(Array.isArray(error) ? error[0].message : 'The connection was refused.')
    },
    complete: end,
  }
  count(1)
  connecting ??= connect()
  void connecting.then((socket) => {
    if (!ended) stop = socket.subscribe<Data>(payload, sink)
  })
  return () => {
    end()
    stop?.()
  }
}
