/** The first request of a session, which the page makes while the session's code is on its way. */
import { request } from '../graphql/client'
import { OpenAroundQuery, OpenAtEndQuery } from '../graphql/documents'

/** Messages in a page, and in what is shown first. */
export const PAGE = 64

type Opened = Awaited<ReturnType<typeof ask>>
let begun: { id: string; sequence: number | null; answer: Promise<Opened> } | null = null

/** Ask for a session with its end, or with what surrounds `sequence`. */
export function ask(id: string, sequence: number | null) {
  return sequence === null
    ? request(OpenAtEndQuery, { id, count: PAGE })
    : request(OpenAroundQuery, { id, sequence, count: PAGE })
}

/** Ask before there is anything that could show it. */
export function begin(id: string, sequence: number | null): void {
  begun = { id, sequence, answer: ask(id, sequence) }
  // A failure is told to who takes the answer.
  begun.answer.catch(() => undefined)
}

/** The answer that was asked for before, once; else a new one. */
export function open(id: string, sequence: number | null): Promise<Opened> {
  const found = begun?.id === id && begun.sequence === sequence ? begun.answer : ask(id, sequence)
  begun = null
  return found
}
