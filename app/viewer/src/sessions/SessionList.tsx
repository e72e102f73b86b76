import { CircleHelp } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { Connection } from '../interface/Connection'
import { Failure } from '../interface/Failure'
import { Help } from '../interface/Help'
import { amend, useQuery } from '../interface/navigation'
import { useShortcuts } from '../interface/shortcuts'
import { Filters } from './Filters'
import { SessionRow } from './SessionRow'
import { type Filter, Sessions } from './store'

/** All sessions, newest change first, with those of sub-agents under their parents. */
export default function SessionList() {
  const filter = useFilter()
  const [sessions, setSessions] = useState(() => new Sessions(filter))
  const list = useRef<HTMLUListElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  useSyncExternalStore(sessions.subscribe, sessions.snapshot)
  useEffect(() => {
    document.title = 'Sessions · Toolfold'
  }, [])
  useEffect(() => {
    const next = new Sessions(filter)
    setSessions(next)
    return next.start()
  }, [filter])
  const keys = useMemo(
    () => ({
      j: () => step(list.current, 1),
      k: () => step(list.current, -1),
      g: () => links(list.current).at(0)?.focus(),
      G: () => links(list.current).at(-1)?.focus(),
      '/': () => search.current?.focus(),
      '?': () => setHelp(true),
    }),
    [],
  )
  useShortcuts(keys)
  const agents = useAgents(sessions)
  // While a filter's first page is on its way, the rows before it stay, dimmed.
  const shown = useDeferredValue(sessions.rows)
  const [kept, setKept] = useState(shown)
  if (kept !== shown && !(sessions.loading && shown.length === 0)) setKept(shown)
  const stale = sessions.loading && shown.length === 0
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
        <Filters filter={filter} agents={agents} search={search} />
        <a className="quiet button" href="/graphiql">
          GraphiQL
        </a>
        <button type="button" className="quiet" onClick={() => setHelp(true)} aria-label="Keyboard help">
          <CircleHelp size={16} aria-hidden />
        </button>
      </header>
      <Connection />
      <main tabIndex={-1}>
        {!sessions.problemIsBelow && failure}
        <ul
          ref={list}
          className="rows"
          data-stale={stale || undefined}
          aria-label="Sessions"
          aria-busy={sessions.loading}
        >
          {kept.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
        {sessions.answered && !sessions.loading && !sessions.rows.length && <Nothing filter={filter} />}
        {sessions.problemIsBelow && failure}
        {sessions.hasMore && !sessions.problem && <More load={() => sessions.more()} />}
        <div role="status" className="unseen">
          {sessions.loading ? 'Loading sessions' : ''}
        </div>
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  )
}

function Nothing({ filter }: { filter: Filter }) {
  if (filter.title || filter.agent || filter.status || filter.project) {
    return (
      <p className="empty">
        No session fits.{' '}
        <button type="button" onClick={() => amend('/')}>
          Show all
        </button>
      </p>
    )
  }
  return (
    <div className="empty">
      <p>No sessions yet.</p>
      <p>
        Import what agents left on this disk with <code>toolfold import</code>, or let it watch with{' '}
        <code>toolfold serve --watch</code>. They appear here as they come.
      </p>
    </div>
  )
}

/** Loads on as it comes into sight; a button as well, for the keyboard. */
function More({ load }: { load: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const element = button.current
    if (!element) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      rootMargin: '600px',
    })
    observer.observe(element)
    return () => observer.disconnect()
  })
  return (
    <button ref={button} type="button" className="more" onClick={load}>
      Show more sessions
    </button>
  )
}

function useFilter(): Filter {
  const query = useQuery()
  return useMemo(() => {
    const parameters = new URLSearchParams(query)
    const status = parameters.get('status')
    return {
      project: parameters.get('project'),
      title: parameters.get('q') ?? '',
      agent: parameters.get('agent') ?? '',
      status:
        status === 'ACTIVE' || status === 'COMPLETED' || status === 'FAILED' || status === 'ARCHIVED'
          ? status
          : null,
    }
  }, [query])
}

/** The agents that were seen, to choose from. */
function useAgents(sessions: Sessions): string[] {
  const seen = useRef(new Set<string>())
  for (const row of sessions.rows) seen.current.add(row.agent)
  if (sessions.filter.agent) seen.current.add(sessions.filter.agent)
  return [...seen.current].sort()
}

function links(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('a.open') ?? [])]
}

function step(list: HTMLElement | null, by: number): void {
  const all = links(list)
  const place = all.indexOf(document.activeElement as HTMLElement)
  const next = place < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, place + by))
  all[next]?.focus()
}
