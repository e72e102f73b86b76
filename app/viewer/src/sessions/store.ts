/** The sessions that the list shows: pages by filter, changes as they happen. */
import { follow, isConnected, request, watchConnection } from '../graphql/client'
import {
  type ListedSession,
  ProjectSessionsQuery,
  SessionListUpdates,
  SessionsQuery,
} from '../graphql/documents'
import type { ResultOf } from '../graphql/graphql'

/** The sessions are asked for once their changes are told, so that none is missed; that is waited for so long. */
const PATIENCE_MS = 300

const NONE = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }

type Change = ResultOf<typeof SessionListUpdates>['sessionListUpdates']
type Status = ListedSession['status']

export interface Filter {
  project: string | null
  title: string
  agent: string
  status: Status | null
}

export class Sessions {
  rows: readonly ListedSession[] = []
  loading = false
  /** Whether the rows are what an answer said. */
  answered = false
  hasMore = false
  /** Whether the project whose sessions these would be is not there. */
  projectIsAbsent = false
  /** Why the page that was asked for last could not be had. */
  problem: string | null = null
  /** Whether it was not the first. */
  problemIsBelow = false

  private end: string | null = null
  private asking = 0
  private stopped = false
  private underway: Promise<void> = Promise.resolve()
  /** Changes that were told while an answer was on its way, which may not know of them. */
  private meanwhile: Change[] = []
  private version = 0
  private readonly listeners = new Set<() => void>()

  constructor(readonly filter: Filter) {}

  subscribe = (listener: () => void) => {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  snapshot = () => this.version

  /** Load the first page, or so many rows, and follow changes until the returned function is called. */
  start(count = 0): () => void {
    const unfollow = follow(
      SessionListUpdates,
      () => ({ project: this.filter.project }),
      (data) => this.take(data.sessionListUpdates),
      () => undefined,
    )
    this.loading = true
    this.changed()
    let asked = false
    const ask = () => {
      clearTimeout(patience)
      asked = true
      this.underway = this.ask(null, () => this.first(count))
    }
    const patience = setTimeout(ask, PATIENCE_MS)
    // There is no backlog of changes: what happened before they are told, or while they were not, is read anew.
    const unwatch = watchConnection(() => {
      if (asked) void this.underway.then(() => this.refresh())
      else ask()
    })
    if (isConnected()) ask()
    return () => {
      this.stopped = true
      clearTimeout(patience)
      unfollow()
      unwatch()
      this.asking++
    }
  }

  /** Load the page after a cursor: the first one has the place of all rows. */
  async load(after: string | null = null): Promise<void> {
    this.problem = null
    this.underway = this.ask(after, async () => {
      const page = await this.page(after)
      const known = new Set(after ? this.rows.map((row) => row.id) : [])
      const rows = after ? this.rows : []
      return { ...page, nodes: [...rows, ...page.nodes.filter((row) => !known.has(row.id))] }
    })
    await this.underway
  }

  /** Read anew as many rows as there are, which stay until their successors are all there. */
  private async refresh(): Promise<void> {
    if (this.stopped) return
    // A further page that could not be had is asked for again by request alone.
    if (!this.problemIsBelow) this.problem = null
    this.underway = this.ask(null, () => this.first(this.rows.length))
    await this.underway
  }

  /** Return the first rows: a page of them, and others until there are so many. */
  private async first(count: number) {
    let page = await this.page(null)
    const rows = new Map(page.nodes.map((row) => [row.id, row]))
    while (rows.size < count && page.pageInfo.hasNextPage) {
      page = await this.page(page.pageInfo.endCursor)
      for (const row of page.nodes) rows.set(row.id, row)
    }
    return { ...page, nodes: [...rows.values()] }
  }

  private async ask(after: string | null, read: () => ReturnType<Sessions['page']>): Promise<void> {
    const asked = ++this.asking
    this.loading = true
    this.meanwhile = []
    this.changed()
    try {
      const { nodes, pageInfo } = await read()
      if (asked !== this.asking) return
      this.rows = nodes
      for (const change of this.meanwhile) this.apply(change)
      this.answered = true
      this.hasMore = pageInfo.hasNextPage
      this.end = pageInfo.endCursor
    } catch (error) {
      if (asked !== this.asking) return
      this.problem = (error as Error).message
      this.problemIsBelow = after !== null
    }
    this.loading = false
    this.changed()
  }

  more(): void {
    if (!this.loading && this.hasMore) void this.load(this.end)
  }

  /** Load all pages that are left. */
  async rest(): Promise<void> {
    while (this.hasMore && !this.stopped && !this.problem)
      await (this.loading ? this.underway : this.load(this.end))
  }

  /** Ask again for the page that could not be had. */
  retry(): void {
    void this.load(this.problemIsBelow ? this.end : null)
  }

  private async page(after: string | null) {
    const { project, title, agent, status } = this.filter
    const filter = {
      titleContains: title || null,
      agent: agent || null,
      status: status ? [status] : null,
    }
    if (project === null) return (await request(SessionsQuery, { after, filter })).sessions
    const answer = await request(ProjectSessionsQuery, { project, after, filter })
    this.projectIsAbsent = !answer.project
    return answer.project?.sessions ?? NONE
  }

  private take(change: Change): void {
    if (this.loading) this.meanwhile.push(change)
    this.apply(change)
    this.changed()
  }

  private apply(change: Change): void {
    if (change.__typename === 'SessionDeleted') {
      this.rows = this.rows.filter((row) => row.id !== change.deletedId)
    } else if (!change.session.parent) {
      const { session } = change
      const known = this.rows.find((row) => row.id === session.id)
      if (known && Date.parse(known.updatedAt) > Date.parse(session.updatedAt)) return
      // In its place, so that nothing moves under the pointer; what is new comes first.
      if (!this.fits(session)) this.rows = this.rows.filter((row) => row.id !== session.id)
      else if (known) this.rows = this.rows.map((row) => (row.id === session.id ? session : row))
      else this.rows = [session, ...this.rows]
    }
  }

  private fits(session: ListedSession): boolean {
    const { title, agent, status } = this.filter
    if (title && !session.title?.toLowerCase().includes(title.toLowerCase())) return false
    return (!agent || session.agent === agent) && (!status || session.status === status)
  }

  private changed(): void {
    this.version++
    for (const listener of this.listeners) listener()
  }
}
