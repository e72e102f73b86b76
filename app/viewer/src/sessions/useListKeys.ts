import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { useShortcuts } from '../interface/shortcuts'
import { links } from './links'
import type { Shown } from './useSessions'

interface Other {
  search: () => void
  help: () => void
}

/** The list's keys. The last session is that of all pages, and is gone to as they come. */
export function useListKeys(
  list: RefObject<HTMLElement | null>,
  { sessions, drawn }: Pick<Shown, 'sessions' | 'drawn'>,
  other: Other,
): void {
  const goesToLast = useRef(false)
  const others = useRef(other)
  others.current = other
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
      '/': () => others.current.search(),
      '?': () => others.current.help(),
    }
  }, [list, sessions])
  useShortcuts(keys)
  // A row that goes leaves the focus to the one that has its place.
  const place = links(list.current).indexOf(document.activeElement as HTMLElement)
  useLayoutEffect(() => {
    if (place < 0 || document.activeElement !== document.body) return
    const all = links(list.current)
    const next = all[Math.min(place, all.length - 1)] ?? list.current?.closest<HTMLElement>('[tabindex]')
    next?.focus({ preventScroll: true })
  })
  useEffect(() => {
    if (goesToLast.current) links(list.current).at(-1)?.focus()
    if (drawn === sessions.rows && !sessions.hasMore) goesToLast.current = false
  }, [list, drawn, sessions])
}

function step(list: HTMLElement | null, by: number): void {
  const all = links(list)
  const place = all.indexOf(document.activeElement as HTMLElement)
  const next = place < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, place + by))
  all[next]?.focus()
}
