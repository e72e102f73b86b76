/** A session's messages by their sequence: pages come when they are shown, and changes as they happen. */
import { forget } from '../card/contents'
import { proseInTime, proseWhenIdle } from '../content/Prose'
import { follow, RequestError, request } from '../graphql/client'
import { type Message, MessagesQuery, type OpenSession, SessionUpdates } from '../graphql/documents'
import type { ResultOf } from '../graphql/graphql'
import { type Folds, fold } from './folding'
import { ask, open, PAGE } from './opening'

/** Pages that are kept: with 4 kB a message, about 12 MB. */
const KEPT_PAGES = 48

/** A session that could not be had is asked for again after so long. */
const AGAIN_MS = 2000
/** Updates that the server ended are begun again after so long, and twice as long each time it ends them at once. */
const ANEW_MS = 1000
const ANEW_MOST_MS = 10_000

const GONE = 'The session is not there any more.'

type Update = ResultOf<typeof SessionUpdates>['sessionUpdates']
type State = 'opening' | 'open' | 'absent' | 'deleted' | 'failed'

interface Page {
  rows: (Message | undefined)[]
  folds: Folds
}

export class Transcript {
  state: State = 'opening'
  session: OpenSession | null = null
  /** How many messages there are; their sequences are 1 to `count`. */
  count = 0
  /** Why the session, or the last page that was asked for, could not be had. */
  problem: string | null = null

  private readonly pages = new Map<number, Page>()
  private readonly asked = new Set<number>()
  private readonly failed = new Set<number>()
  private readonly listeners = new Set<() => void>()
  private version = 0
  private frame = 0
  private cursor: string | null = null
  private unfollow: (() => void) | null = null
  private closed = false
  private again: ReturnType<typeof setTimeout> | undefined
  private attempts = 0
  private anew: ReturnType<typeof setTimeout> | undefined
  private anewMs = ANEW_MS

  constructor(readonly id: string) {}

  subscribe = (listener: () => void) => {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  snapshot = () => this.version

  at(sequence: number): Message | undefined {
    return this.pages.get(pageOf(sequence))?.rows[(sequence - 1) % PAGE]
  }

  /** The messages that are folded into one line with this one, itself among them. */
  foldAt(sequence: number): readonly Message[] | undefined {
    return this.pages.get(pageOf(sequence))?.folds.get(sequence)
  }

  /** Load the session with its end, or with what surrounds `sequence`, then follow it. */
  async open(sequence: number | null): Promise<void> {
    clearTimeout(this.again)
    this.closed = false
    this.state = 'opening'
    this.problem = null
    this.changed()
    await this.attempt(sequence)
  }

  private async attempt(sequence: number | null): Promise<void> {
    const attempt = ++this.attempts
    // One that was closed, or asked for anew meanwhile, leaves the rest to the one after it.
    const isOver = () => this.closed || attempt !== this.attempts
    try {
      const { session } = await open(this.id, sequence)
      const hasProse = session?.messages.nodes.some(isProse)
      if (hasProse) await proseInTime()
      if (isOver()) return
      if (!session) {
        this.state = 'absent'
      } else {
        this.session = session
        this.count = session.messageCount
        this.cursor = session.updatesCursor
        this.state = 'open'
        this.problem = null
        this.put(session.messages.nodes)
        this.listen()
        if (!hasProse) proseWhenIdle()
      }
    } catch (error) {
      if (isOver()) return
      this.state = 'failed'
      this.problem = (error as Error).message
      // What has a code is the server's own refusal; else it, or what stands before it, may be back soon.
      const refused = error instanceof RequestError && error.code !== null
      if (!refused) this.again = setTimeout(() => void this.attempt(sequence), AGAIN_MS)
    }
    this.changed()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.again)
    clearTimeout(this.anew)
    this.anew = undefined
    this.unfollow?.()
    this.unfollow = null
  }

  /** Have the messages `from` to `to` loaded, as far as they are not. */
  need(from: number, to: number): void {
    const last = pageOf(Math.min(this.count, Math.max(1, to)))
    for (let page = pageOf(Math.max(1, from)); page <= last; page++) {
      if (this.asked.has(page) || this.failed.has(page) || !this.lacks(page, 1, this.count)) continue
      if (this.state !== 'deleted') void this.load(page)
      else if (this.lacks(page, from, to)) this.fail(page, GONE)
    }
  }

  /** Ask again for the page that could not be had last; for the others as they are shown. */
  retry(): void {
    const page = [...this.failed].at(-1)
    // Of a session that is not there, one is enough to ask for.
    if (this.state !== 'deleted') this.failed.clear()
    else if (page !== undefined) this.failed.delete(page)
    this.problem = null
    if (page !== undefined) void this.load(page)
    this.changed()
  }

  /** Whether one of the messages `from` to `to` is of a page and not there. */
  private lacks(page: number, from: number, to: number): boolean {
    const last = Math.min(to, this.count, (page + 1) * PAGE)
    for (let sequence = Math.max(from, page * PAGE + 1); sequence <= last; sequence++) {
      if (!this.at(sequence)) return true
    }
    return false
  }

  private async load(page: number): Promise<void> {
    this.asked.add(page)
    const { count, state } = this
    try {
      // A page of n rows around its middle begins n / 2 rows before it.
      const sequence = page * PAGE + 1 + PAGE / 2
      const { session } = await request(MessagesQuery, { id: this.id, sequence, count: PAGE })
      if (session) {
        this.put(session.messages.nodes)
        if (state === 'deleted') this.revive()
        // What an answer lacks it would lack again.
        if (this.lacks(page, 1, count)) this.fail(page, 'They are not there any more.')
        else if (!this.failed.size) this.problem = null
      } else {
        this.state = 'deleted'
        this.fail(page, GONE)
      }
    } catch (error) {
      this.fail(page, (error as Error).message)
    }
    this.asked.delete(page)
    this.changed()
  }

  /** A page is asked for again by request alone. */
  private fail(page: number, reason: string): void {
    this.failed.add(page)
    this.problem = reason
    this.changed()
  }

  /** A session that was not there is: it may have been out of reach for who reads. */
  private revive(): void {
    this.state = 'open'
    this.failed.clear()
    if (!this.closed) this.listen()
  }

  private put(messages: readonly Message[]): void {
    const touched = new Set<number>()
    for (const message of messages) {
      const known = this.at(message.sequence)
      if (known && known.revision >= message.revision) continue
      if (known) forget(known, message)
      const page = pageOf(message.sequence)
      if (!touched.has(page)) {
        touched.add(page)
        this.pages.set(page, { rows: [...(this.pages.get(page)?.rows ?? [])], folds: new Map() })
      }
      const { rows } = this.pages.get(page) as Page
      rows[(message.sequence - 1) % PAGE] = message
      this.count = Math.max(this.count, message.sequence)
    }
    for (const page of touched) this.refold(page)
    this.evict(touched)
  }

  private refold(page: number): void {
    const kept = this.pages.get(page) as Page
    this.pages.delete(page)
    this.pages.set(page, { rows: kept.rows, folds: fold(Array.from(kept.rows)) })
  }

  /** Let go of the pages that were loaded longest ago, never of the last, where changes arrive. */
  private evict(touched: ReadonlySet<number>): void {
    const end = pageOf(this.count)
    for (const page of this.pages.keys()) {
      if (this.pages.size <= KEPT_PAGES) return
      if (page < end - 1 && !touched.has(page)) this.pages.delete(page)
    }
  }

  private listen(): void {
    this.unfollow?.()
    this.unfollow = follow(
      SessionUpdates,
      () => ({ id: this.id, after: this.cursor }),
      (data) => this.take(data.sessionUpdates),
      () => this.beginAgain(),
    )
  }

  /** The server ended the updates (a deadline, another database): read anew where it can be read. */
  private beginAgain(): void {
    if (this.anew !== undefined || !this.unfollow) return
    const wait = this.anewMs
    this.anewMs = Math.min(2 * wait, ANEW_MOST_MS)
    this.anew = setTimeout(() => {
      this.anew = undefined
      if (!this.unfollow) return
      void ask(this.id, null).then(
        ({ session }) => {
          if (!this.unfollow) return
          if (!session) {
            this.state = 'deleted'
          } else {
            this.session = session
            this.count = session.messageCount
            this.cursor = session.updatesCursor
            this.pages.clear()
            this.put(session.messages.nodes)
            this.listen()
          }
          this.changed()
        },
        () => this.beginAgain(),
      )
    }, wait)
  }

  private take(update: Update): void {
    this.anewMs = ANEW_MS
    this.cursor = update.cursor ?? this.cursor
    if (update.__typename === 'MessageUpdate') {
      const { session, ...message } = update.message
      this.takeMessage(message)
      if (this.session) this.session = { ...this.session, ...session }
    } else if (update.__typename === 'SessionChange') {
      if (this.session) this.session = { ...this.session, ...update.session }
    } else if (update.__typename === 'SessionDeleted') {
      this.state = 'deleted'
    }
    // However fast updates come, the screen changes once a frame.
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0
        this.changed()
      })
    }
  }

  private takeMessage(message: Message): void {
    // A change far from what is loaded, or being loaded, is read when it is shown.
    const page = pageOf(message.sequence)
    if (this.pages.has(page) || this.asked.has(page) || message.sequence >= this.count) this.put([message])
  }

  private changed(): void {
    this.version++
    for (const listener of this.listeners) listener()
  }
}

/** Whether a message is drawn as Markdown as soon as it is shown. */
function isProse({ role, content, origin }: Message): boolean {
  return (
    content !== null && content !== '' && (role === 'ASSISTANT' || role === 'PLAN') && origin !== 'system'
  )
}

function pageOf(sequence: number): number {
  return Math.floor((sequence - 1) / PAGE)
}
