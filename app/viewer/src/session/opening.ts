/** The first request of a session, which the page makes while the session's code is on its way. */
import { request } from '../graphql/client'
import { OpenAroundQuery, OpenAtEndQuery } from '../graphql/documents'

/** Messages in a page, and in what is shown first. */
export const PAGE = 64

export type Opened = Awaited<ReturnType<typeof ask>>
let begun: { id: string; sequence: number | null; answer: Promise<Opened>; opened: Opened | null } | null =
  null

/** Ask for a session with its end, or with what surrounds `sequence`. */
export function ask(id: string, sequence: number | null) {
  return sequence === null
    ? request(OpenAtEndQuery, { id, count: PAGE })
    : request(OpenAroundQuery, { id, sequence, count: PAGE })
}

/** Ask before there is anything that could show it. */
export function begin(id: string, sequence: number | null): void {
  const asked = { id, sequence, answer: ask(id, sequence), opened: null as Opened | null }
  begun = asked
  asked.answer.then(
    (opened) => {
      asked.opened = opened
    },
    // A failure is told to who takes the answer.
    () => undefined,
  )
}

/** What was asked for before, once: its answer if that has come, else the promise of it. A new promise if it was not. */
export function open(id: string, sequence: number | null): Opened | Promise<Opened> {
  const found = begun?.id === id && begun.sequence === sequence ? begun : null
  begun = null
  return found?.opened ?? found?.answer ?? ask(id, sequence)
}
