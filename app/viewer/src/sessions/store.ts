/** The sessions that the list shows: pages by filter, changes as they happen. */
import { follow, request, watchConnection } from '../graphql/client'
import {
  type ListedSession,
  ProjectSessionsQuery,
  SessionListUpdates,
  SessionsQuery,
} from '../graphql/documents'
import type { ResultOf } from '../graphql/graphql'

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
  hasMore = false
  /** Why the page that was asked for last could not be had. */
  problem: string | null = null
  /** Whether it was not the first. */
  problemIsBelow = false

  private end: string | null = null
  private asking = 0
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

  /** Load the first page and follow changes until the returned function is called. */
  start(): () => void {
    const unfollow = follow(
      SessionListUpdates,
      () => ({ project: this.filter.project }),
      (data) => this.take(data.sessionListUpdates),
      () => undefined,
    )
    // There is no backlog of changes: what happened before they are told, or while they were not, is read anew.
    const unwatch = watchConnection((state) => {
      if (state === 'connected') void this.load()
    })
    void this.load()
    return () => {
      unfollow()
      unwatch()
      this.asking++
    }
  }

  async load(after: string | null = null): Promise<void> {
    const asked = ++this.asking
    this.loading = true
    this.problem = null
    this.changed()
    try {
      const page = await this.page(after)
      if (asked !== this.asking) return
      const known = new Set(after ? this.rows.map((row) => row.id) : [])
      this.rows = [...(after ? this.rows : []), ...page.nodes.filter((row) => !known.has(row.id))]
      this.hasMore = page.pageInfo.hasNextPage
      this.end = page.pageInfo.endCursor
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
    if (!answer.project) throw new Error('There is no such project.')
    return answer.project.sessions
  }

  private take(change: Change): void {
    if (change.__typename === 'SessionDeleted') {
      this.rows = this.rows.filter((row) => row.id !== change.deletedId)
    } else if (!change.session.parent) {
      const { session } = change
      const known = this.rows.some((row) => row.id === session.id)
      // In its place, so that nothing moves under the pointer; what is new comes first.
      if (!this.fits(session)) this.rows = this.rows.filter((row) => row.id !== session.id)
      else if (known) this.rows = this.rows.map((row) => (row.id === session.id ? session : row))
      else this.rows = [session, ...this.rows]
    }
    this.changed()
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
