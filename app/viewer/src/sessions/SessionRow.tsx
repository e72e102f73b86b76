import { ChevronRight } from 'lucide-react'
import { memo, useCallback, useEffect, useRef, useState } from 'react'
import { request } from '../graphql/client'
import { ChildSessionsQuery, type ListedSession } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { count, counted, fully, size, when } from '../interface/format'
import { Link } from '../interface/navigation'
import { setOpened, useOpened } from '../interface/opened'
import { visible } from '../interface/visible'
import { StatusMark } from './StatusMark'

/** A session in the list, and under it the sessions of its sub-agents, folded. */
export const SessionRow = memo(function SessionRow({ session }: { session: ListedSession }) {
  const key = `children ${session.id}`
  const open = useOpened(key)
  const children = session.children.totalCount
  return (
    <li>
      <div className="entry">
        <Link to={`/sessions/${session.id}`} className="open">
          <span className="title">
            <bdi>{visible(session.title ?? 'Untitled session')}</bdi>
          </span>
          <span className="facts">
            <StatusMark status={session.status} />
            <span className="agent">{visible(session.agent)}</span>
            {session.cwd && (
              <span className="path" title={visible(session.cwd)}>
                {visible(session.cwd)}
              </span>
            )}
            {session.project.name !== 'default' && <span>{visible(session.project.name)}</span>}
          </span>
          <span className="messages-count">
            {count(session.messageCount)}
            <span className="unit"> {session.messageCount === 1 ? 'message' : 'messages'}</span>
          </span>
          <span className="size">
            {size(session.contentSize)}
            <span className="unseen"> of tool output</span>
          </span>
          <time dateTime={session.updatedAt} title={fully(session.updatedAt)}>
            {when(session.updatedAt)}
          </time>
        </Link>
        {children > 0 && (
          <button
            type="button"
            className="quiet agents"
            aria-expanded={open}
            onClick={() => setOpened(key, !open)}
          >
            <ChevronRight size={14} className="chevron" aria-hidden />
            {counted(children, 'sub-agent')}
          </button>
        )}
      </div>
      {open && <Children id={session.id} />}
    </li>
  )
})

function Children({ id }: { id: string }) {
  const [rows, setRows] = useState<ListedSession[]>([])
  const [next, setNext] = useState<string | null>('')
  const [reason, setReason] = useState<string | null>(null)
  const busy = useRef(false)
  const load = useCallback(
    (after: string | null) => {
      if (busy.current) return
      busy.current = true
      setReason(null)
      request(ChildSessionsQuery, { id, after })
        .then(({ session }) => {
          if (!session) throw new Error('The session is not there any more.')
          const { nodes, pageInfo } = session.children
          setRows((known) => [...(after ? known : []), ...nodes])
          setNext(pageInfo.hasNextPage ? pageInfo.endCursor : null)
        })
        .catch((error: Error) => setReason(error.message))
        .finally(() => {
          busy.current = false
        })
    },
    [id],
  )
  useEffect(() => load(null), [load])
  return (
    <>
      <ul aria-label="Sub-agents">
        {rows.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      {reason && <Failure reason={reason} retry={() => load(next || null)} />}
      {next && !reason && (
        <button type="button" className="more" onClick={() => load(next)}>
          Show more sub-agents
        </button>
      )}
      {!rows.length && !reason && next !== null && (
        <p role="status" className="note">
          Loading sub-agents
        </p>
      )}
    </>
  )
}
