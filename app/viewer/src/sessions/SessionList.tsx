import { CircleHelp } from 'lucide-react'
import {
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { placeBefore } from '../interface/address'
import { Connection } from '../interface/Connection'
import { Failure } from '../interface/Failure'
import { focusUnlessTaken } from '../interface/focus'
import { Help } from '../interface/Help'
import { amend, usePlace, useQuery } from '../interface/navigation'
import { useShortcuts } from '../interface/shortcuts'
import { Filters } from './Filters'
import { SessionRow } from './SessionRow'
import { type Filter, Sessions } from './store'

/** Where a person was in the list. */
interface ListPlace {
  rows: number
  /** In pixels. */
  top: number
  /** Where the link leads that had the focus. */
  focused: string | null
}

/** All sessions, newest change first, with those of sub-agents under their parents. */
export default function SessionList() {
  const filter = useFilter()
  const [sessions, setSessions] = useState(() => new Sessions(filter))
  const list = useRef<HTMLUListElement>(null)
  const main = useRef<HTMLElement>(null)
  const returning = useRef<ListPlace | null>(placeBefore<ListPlace>())
  const goesToLast = useRef(false)
  const search = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  useSyncExternalStore(sessions.subscribe, sessions.snapshot)
  useEffect(() => {
    document.title = 'Sessions · Toolfold'
  }, [])
  useEffect(() => {
    const next = new Sessions(filter)
    setSessions(next)
    return next.start(returning.current?.rows)
  }, [filter])
  const keys = useMemo(() => {
    const move = (to: () => void) => {
      goesToLast.current = false
      to()
    }
    return {
      j: () => move(() => step(list.current, 1)),
      k: () => move(() => step(list.current, -1)),
      g: () => move(() => links(list.current).at(0)?.focus()),
      G: () => {
        goesToLast.current = true
        links(list.current).at(-1)?.focus()
        void sessions.rest()
      },
      '/': () => search.current?.focus(),
      '?': () => setHelp(true),
    }
  }, [sessions])
  useShortcuts(keys)
  const agents = useAgents(sessions)
  // While a filter's first page is on its way, the rows before it stay, dimmed.
  const shown = useDeferredValue(sessions.rows)
  const [kept, setKept] = useState(shown)
  if (kept !== shown && !(sessions.loading && shown.length === 0)) setKept(shown)
  useEffect(() => {
    if (goesToLast.current) links(list.current).at(-1)?.focus()
    if (kept === sessions.rows && !sessions.hasMore) goesToLast.current = false
    const place = returning.current
    if (!place || !kept.length) return
    returning.current = null
    if (main.current) main.current.scrollTop = place.top
    const link = links(list.current).find((one) => one.getAttribute('href') === place.focused)
    link?.focus({ preventScroll: true })
  }, [kept, sessions])
  useEffect(() => focusUnlessTaken(main.current), [])
  const notePlace = usePlace(
    useCallback(
      (): ListPlace =>
        returning.current ?? {
          rows: sessions.rows.length,
          top: main.current?.scrollTop ?? 0,
          focused: document.activeElement?.getAttribute('href') ?? null,
        },
      [sessions],
    ),
  )
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
      <main ref={main} tabIndex={-1} onScroll={notePlace} onFocus={notePlace}>
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
