import { type RefObject, useCallback, useEffect, useRef } from 'react'
import type { ListedSession } from '../graphql/documents'
import { placeBefore } from '../interface/address'
import { focusUnlessTaken } from '../interface/focus'
import { usePlace } from '../interface/navigation'
import { links } from './links'

/** Where a person was in the list. */
export interface ListPlace {
  rows: number
  /** How far it was scrolled, in pixels. */
  top: number
  /** Where the link leads that had the focus. */
  focused: string | null
  /** A link that was in sight, and how many pixels below the top of the list. */
  anchor: { href: string; below: number } | null
}

const INPUTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

interface Elements {
  /** What scrolls. */
  main: RefObject<HTMLElement | null>
  list: RefObject<HTMLElement | null>
}

/** Where to begin: the place that is returned to, until its rows are there. */
export function useReturning(): RefObject<ListPlace | null> {
  return useRef(placeBefore<ListPlace>())
}

/** Lead back to the place that is returned to, and let the browser's history know of others: call what is returned. */
export function useListPlace(
  { main, list }: Elements,
  returning: RefObject<ListPlace | null>,
  drawn: readonly ListedSession[],
): () => void {
  useEffect(() => focusUnlessTaken(main.current), [main])
  useEffect(() => {
    const [scroller, rows, place] = [main.current, list.current, returning.current]
    if (!scroller || !rows || !place || !drawn.length) return
    const arrive = () => {
      if (!restore(place, scroller, rows)) return
      returning.current = null
      stop()
    }
    // A sub-agent's row comes later than that of its parent.
    const observer = new MutationObserver(arrive)
    const stay = () => {
      returning.current = null
      stop()
    }
    const stop = () => {
      observer.disconnect()
      for (const name of INPUTS) scroller.removeEventListener(name, stay)
    }
    observer.observe(rows, { childList: true, subtree: true })
    for (const name of INPUTS) scroller.addEventListener(name, stay, { passive: true })
    arrive()
    return stop
  }, [main, list, returning, drawn])
  return usePlace(
    useCallback((): ListPlace => {
      const [scroller, rows] = [main.current, list.current]
      return returning.current ?? placeIn(scroller, rows, drawn.length)
    }, [main, list, returning, drawn]),
  )
}

function placeIn(main: HTMLElement | null, list: HTMLElement | null, rows: number): ListPlace {
  const all = main ? links(list) : []
  const focused = all.find((link) => link === document.activeElement)
  const isInSight = (link: HTMLElement) => {
    const box = link.getBoundingClientRect()
    return main !== null && belowTop(link, main) + box.height > 0 && belowTop(link, main) < main.clientHeight
  }
  const seen = focused && isInSight(focused) ? focused : all.find(isInSight)
  return {
    rows,
    top: main?.scrollTop ?? 0,
    focused: focused?.getAttribute('href') ?? null,
    anchor: main && seen ? { href: seen.getAttribute('href') as string, below: belowTop(seen, main) } : null,
  }
}

/** Scroll to a place and give back the focus; say whether what it is known by is there. */
function restore({ top, focused, anchor }: ListPlace, main: HTMLElement, list: HTMLElement): boolean {
  const named = (href: string) => links(list).find((link) => link.getAttribute('href') === href)
  main.scrollTop = top
  const seen = anchor && named(anchor.href)
  // Others may have come above it since.
  if (seen) main.scrollTop += belowTop(seen, main) - anchor.below
  const link = focused === null ? undefined : named(focused)
  link?.focus({ preventScroll: true })
  return (anchor === null || seen !== undefined) && (focused === null || link !== undefined)
}

function belowTop(link: HTMLElement, main: HTMLElement): number {
  return link.getBoundingClientRect().top - main.getBoundingClientRect().top
}
