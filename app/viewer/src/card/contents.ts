/**
 * What opened cards have loaded, kept outside their rows: by message and the hashes of content and input, so that it
 * outlives scrolling away and goes when they change.
 */
import { useCallback, useSyncExternalStore } from 'react'
import { RequestError, request } from '../graphql/client'
import {
  type Block,
  type Media,
  type Message,
  type ToolCall,
  ToolContentQuery,
  ToolLinesQuery,
  ToolTextQuery,
} from '../graphql/documents'
import type { ResultOf } from '../graphql/graphql'
import { isOpened } from '../interface/opened'

/** Over so many stored bytes, or so many lines, a content comes by lines; a change of a file is drawn by parts anyhow. */
const WHOLE_BYTES = 256 * 1024
const WHOLE_LINES = 2000
/** Over this many stored bytes an input comes by slices, when asked for. */
export const WHOLE_INPUT_BYTES = 64 * 1024
const LINES = 2000
/** Twenty lines of the greatest length fit what one operation may read. */
const LONG_LINES = 20
/** A text that is read whole comes in slices of so many bytes. */
const SLICE_BYTES = 256 * 1024
const KEPT_BYTES = 12 * 1024 * 1024

type LinesAnswer = NonNullable<NonNullable<ResultOf<typeof ToolLinesQuery>['message']>['toolMetadata']>
export type Lines = NonNullable<LinesAnswer['contentLines']>

export interface Content {
  /** All of it; null where it comes by lines, or there is none. */
  blocks: readonly Block[] | null
  lines: Lines | null
  /** The pictures, sounds and other bytes in what comes by lines, which name them alone. */
  media: readonly Media[]
  /** What the tool was called with; undefined where it is too large to come along. */
  input: unknown
  /** The program whose session it is of. */
  agent: string
}

export type Entry =
  | { state: 'loading' }
  | { state: 'ready'; content: Content }
  | { state: 'failed'; reason: string }

const entries = new Map<string, { entry: Entry; bytes: number }>()
/** Calls as they were before a change, which a card may not have heard of yet; nothing is loaded for them. */
const superseded = new WeakSet<ToolCall>()
const listeners = new Set<() => void>()

export function isRunning(call: ToolCall): boolean {
  return call.status === 'PENDING' || call.status === 'IN_PROGRESS'
}

/**
 * What is shown is that of one input and one output; a running call's output is shown as of when it was loaded, until
 * the call has ended.
 */
export function keyOf(message: Message, call: ToolCall): string {
  return `${message.id} ${isRunning(call) ? 'running' : call.contentHash} ${call.rawInput?.hash ?? ''}`
}

/** Load what a card shows, unless it is there or on its way. */
export function load(message: Message, call: ToolCall): void {
  const key = keyOf(message, call)
  const known = entries.get(key)?.entry
  if (superseded.has(call) || (known && known.state !== 'failed')) return
  const loading: Entry = { state: 'loading' }
  set(key, loading, 0)
  const settle = (entry: Entry) => {
    // A change that came meanwhile has dropped it: what was read then is not shown.
    if (entries.get(key)?.entry === loading) set(key, entry, call.contentSize ?? 0)
  }
  fetchContent(message.id, call).then(
    (content) => settle({ state: 'ready', content }),
    (error: Error) => settle({ state: 'failed', reason: error.message }),
  )
}

/** Load it again, whatever is there. */
export function reload(message: Message, call: ToolCall): void {
  entries.delete(keyOf(message, call))
  load(message, call)
}

/** Drop what was loaded of a message that has changed, where its content or input has or its call has ended. */
export function forget(before: Message, after: Message): void {
  const [old, now] = [before.toolMetadata, after.toolMetadata]
  if (!old) return
  const key = keyOf(before, old)
  const next = now && keyOf(after, now)
  if (key === next) {
    // A running call that is open keeps what it shows; one that is closed is read anew when it is opened.
    if (old.contentHash === now?.contentHash || isOpened(before.id)) return
  } else {
    superseded.add(old)
  }
  entries.delete(key)
  tell()
}

export function useEntry(key: string): Entry | undefined {
  const snapshot = useCallback(() => entries.get(key)?.entry, [key])
  return useSyncExternalStore(subscribe, snapshot)
}

async function fetchContent(id: string, call: ToolCall): Promise<Content> {
  const size = call.contentSize ?? 0
  const large = size > WHOLE_BYTES
  const whole = call.kind === 'EDIT' && !large
  const ask = (count: number) =>
    request(ToolContentQuery, {
      id,
      blocks: size > 0 && !large,
      lines: size > 0 && !whole,
      over: large || whole ? null : WHOLE_LINES,
      count,
      input: call.rawInput !== null && call.rawInput.size <= WHOLE_INPUT_BYTES,
    })
  const { message } = await withLongLines(ask)
  const answer = message?.toolMetadata
  if (!answer) throw new RequestError('The message is not there any more.')
  const { blocks = null, contentLines = null, contentOmitted, images } = answer
  const lines = contentOmitted && !contentLines ? await fetchLines(id, 1) : contentLines
  const media = lines ? (images ?? []) : []
  return { blocks, lines, media, input: answer.rawInput?.json, agent: message.session.agent }
}

/** How a line names what is no text: `[image/png, 3.6 MB]`. */
const NAMES_MEDIA = /^\[[^\]/]+\/[^\]]+, [\d.]+ [kMG]?B\]$/

/** Whether a content that comes by lines is pictures and the like alone, so that its lines tell nothing more. */
export function isMediaAlone({ lines, media }: Content): boolean {
  return (
    media.length > 0 &&
    lines !== null &&
    lines.nextFrom === null &&
    lines.lines.every((line) => NAMES_MEDIA.test(line))
  )
}

/** Read lines from `from` on; a negative one counts from the end. */
export async function fetchLines(id: string, from: number, count = LINES): Promise<Lines> {
  const answer = await withLongLines((most) =>
    request(ToolLinesQuery, { id, from, count: Math.min(most, count) }),
  )
  const lines = answer.message?.toolMetadata?.contentLines
  if (!lines) throw new RequestError('The output is not there any more.')
  return lines
}

/** Read all of the text that has been shown by lines. */
export async function fetchText(id: string): Promise<string> {
  let text = ''
  for (let offset: string | number | null = 0; offset !== null; ) {
    const answer: ResultOf<typeof ToolTextQuery> = await request(ToolTextQuery, {
      id,
      offset,
      length: SLICE_BYTES,
    })
    const slice = answer.message?.toolMetadata?.contentText
    if (!slice) throw new RequestError('The output is not there any more.')
    text += slice.text ?? ''
    offset = slice.nextOffset
  }
  return text
}

async function withLongLines<Answer>(ask: (count: number) => Promise<Answer>): Promise<Answer> {
  try {
    return await ask(LINES)
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== 'CONTENT_BUDGET_EXCEEDED') throw error
    return ask(LONG_LINES)
  }
}

function set(key: string, entry: Entry, bytes: number): void {
  entries.delete(key)
  entries.set(key, { entry, bytes: Math.min(bytes, WHOLE_BYTES) })
  let total = 0
  for (const kept of entries.values()) total += kept.bytes
  for (const [oldest, kept] of entries) {
    if (total <= KEPT_BYTES || oldest === key) break
    if (kept.entry.state === 'loading') continue
    entries.delete(oldest)
    total -= kept.bytes
  }
  tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

function tell(): void {
  for (const listener of listeners) listener()
}
