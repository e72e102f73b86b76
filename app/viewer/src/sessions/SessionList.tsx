import { CircleHelp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Connection } from '../interface/Connection'
import { Failure } from '../interface/Failure'
import { focusField } from '../interface/focus'
import { Help } from '../interface/Help'
import { Filters } from './Filters'
import { useFilter } from './filter'
import { More } from './More'
import { Nothing } from './Nothing'
import { SessionRow } from './SessionRow'
import { useListKeys } from './useListKeys'
import { useListPlace, useReturning } from './useListPlace'
import { useSessions } from './useSessions'

/** All sessions, newest change first, with those of sub-agents under their parents. */
export default function SessionList() {
  const filter = useFilter()
  const list = useRef<HTMLUListElement>(null)
  const main = useRef<HTMLElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const returning = useReturning()
  const shown = useSessions(filter, returning)
  const { sessions, drawn } = shown
  const notePlace = useListPlace({ main, list }, returning, drawn)
  useListKeys(list, shown, { search: () => focusField(search.current), help: () => setHelp(true) })
  useEffect(() => {
    document.title = 'Sessions · Toolfold'
  }, [])
  const failure = sessions.problem && (
    <Failure
      reason={`The sessions could not be loaded. ${sessions.problem}`}
      retry={() => sessions.retry()}
    />
  )
  return (
    <div className="page sessions">
      <header className="bar">
        <h1>Sessions</h1>
        <Filters filter={filter} sessions={sessions} search={search} />
        <a className="quiet button" href="/graphiql">
          GraphiQL
        </a>
        <button type="button" className="quiet" onClick={() => setHelp(true)} aria-label="Keyboard help">
          <CircleHelp size={16} aria-hidden />
        </button>
      </header>
      <Connection />
      <main ref={main} tabIndex={-1} onScroll={notePlace} onFocus={notePlace}>
        {!sessions.problemIsBelow && failure}
        <ul
          ref={list}
          className="rows"
          data-stale={shown.isStale || undefined}
          aria-label="Sessions"
          aria-busy={sessions.loading}
        >
          {drawn.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
        {sessions.answered && !sessions.loading && !sessions.rows.length && (
          <Nothing filter={filter} projectIsAbsent={sessions.projectIsAbsent} />
        )}
        {sessions.problemIsBelow && failure}
        {sessions.hasMore && !sessions.problem && (
          <More load={() => sessions.more()} isBelowRows={drawn === sessions.rows} />
        )}
        <div role="status" className="unseen">
          {sessions.loading ? 'Loading sessions' : ''}
        </div>
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  )
}
