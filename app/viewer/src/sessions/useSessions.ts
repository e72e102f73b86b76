import { type RefObject, useDeferredValue, useEffect, useState, useSyncExternalStore } from 'react'
import type { ListedSession } from '../graphql/documents'
import { type Filter, Sessions } from './store'

export interface Shown {
  sessions: Sessions
  /** The rows that are drawn. */
  drawn: readonly ListedSession[]
  /** Whether they are those of the filter before, since its successor's are on their way. */
  isStale: boolean
}

/** The sessions that fit a filter, so many rows of them at first, as they change. */
export function useSessions(filter: Filter, rows: RefObject<{ rows: number } | null>): Shown {
  const [sessions, setSessions] = useState(() => new Sessions(filter))
  useSyncExternalStore(sessions.subscribe, sessions.snapshot)
  useEffect(() => {
    const next = new Sessions(filter)
    setSessions(next)
    return next.start(rows.current?.rows)
  }, [filter, rows])
  const shown = useDeferredValue(sessions.rows)
  const isStale = sessions.loading && shown.length === 0
  const [drawn, setDrawn] = useState(shown)
  if (drawn !== shown && !isStale) setDrawn(shown)
  return { sessions, drawn, isStale }
}
