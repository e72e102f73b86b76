import type { SessionFields } from '../graphql/documents'

const WORDS: Record<SessionFields['status'], string> = {
  ACTIVE: 'active',
  COMPLETED: 'completed',
  FAILED: 'failed',
  ARCHIVED: 'archived',
}

/** A session's status as a mark and a word. */
export function StatusMark({ status }: { status: SessionFields['status'] }) {
  return (
    <span className="mark" data-status={status}>
      {WORDS[status]}
    </span>
  )
}
