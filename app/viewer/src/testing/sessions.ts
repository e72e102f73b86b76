/** Sessions as the server would list them. */
import type { ListedSession } from '../graphql/documents'

export function listed(id: string, changes: Partial<ListedSession> = {}): ListedSession {
  const at = '2026-01-01T10:00:00.000Z'
  return {
    id,
    title: `Session ${id}`,
    agent: 'test',
    status: 'ACTIVE',
    cwd: null,
    gitBranch: null,
    createdAt: at,
    updatedAt: at,
    messageCount: 1,
    toolCallCount: 0,
    contentSize: 0,
    project: { id: 'default', name: 'default' },
    parent: null,
    children: { totalCount: 0 },
    ...changes,
  }
}

/** A page of sessions, as it is answered. */
export function pageOf(nodes: ListedSession[], endCursor: string | null = null) {
  return { sessions: { nodes, pageInfo: { hasNextPage: endCursor !== null, endCursor } } }
}
