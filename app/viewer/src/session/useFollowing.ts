import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { VListHandle } from 'virtua'
import type { Transcript } from './transcript'

/** So near to the end counts as at it, in pixels. */
const NEAR = 32
/** A scroll within so many milliseconds of a person's input is that person's. */
const BY_HAND_MS = 400
/** A pointer that moves further while it is pressed is no click, in pixels. */
const DRAG = 8
/** Of what is opened, so much comes into sight, in pixels. */
const ROOM = 240
const UPWARD_KEYS = new Set(['ArrowUp', 'PageUp', 'Home'])
const DOWNWARD_KEYS = new Set(['ArrowDown', 'PageDown', 'End'])
const TOUCHES = ['touchstart', 'touchmove'] as const

/**
 * Where a list is held while its rows are measured and drawn, which moves them: at its end, or with a row so many pixels
 * below its top, or in sight.
 */
type Hold = 'end' | { sequence: number; top: number | 'in sight' }

/** Where a hand goes on its list; null where only the list's own movement tells. */
type Heading = 'up' | 'down' | null

export interface Following {
  /** How many messages there were when the person moved away; null while the end is followed. */
  away: number | null
  /** Whether there is anything that is not in sight. */
  scrolls: boolean
  /** Stay where the list is. */
  leave: () => void
  /** Go to a message, and keep it there until the person moves on: so many pixels below the top, or in sight. */
  hold: (sequence: number, top: number | 'in sight') => void
  toEnd: () => void
  onScroll: (offset: number) => void
  onResize: () => void
}

/**
 * Keeps the end in sight as it grows, until the person moves away by wheel, key, touch, scrollbar or opening something, and
 * again once they have moved back to it.
 */
export function useFollowing(
  transcript: Transcript,
  list: RefObject<VListHandle | null>,
  box: RefObject<HTMLElement | null>,
  start: number | null,
  top: number,
): Following {
  const [away, setAway] = useState<number | null>(start === null ? null : transcript.count)
  const [scrolls, setScrolls] = useState(true)
  const held = useRef<Hold | null>(start === null ? 'end' : start ? { sequence: start, top } : null)
  const pressed = useRef<{ hold: Hold; x: number; y: number } | null>(null)
  const queued = useRef(false)
  const touched = useRef(0)
  const heading = useRef<Heading>(null)
  const grabbed = useRef(false)
  const finger = useRef(0)
  const offset = useRef(0)
  const version = transcript.snapshot()

  // Not by the list's own scrollToIndex, which goes on for a while whatever the person does meanwhile.
  const stay = useCallback(() => {
    const element = box.current?.querySelector<HTMLElement>('.list')
    const hold = pressed.current?.hold ?? held.current
    const to = element && list.current && hold && target(hold, list.current, element)
    if (element && to != null && Math.abs(to - element.scrollTop) >= 1) element.scrollTop = to
  }, [list, box])
  const leave = useCallback(() => {
    if (held.current === 'end') {
      touched.current = 0
      setAway(transcript.count)
    }
    held.current = null
  }, [transcript])
  const hold = useCallback(
    (sequence: number, top: number | 'in sight') => {
      leave()
      touched.current = 0
      held.current = { sequence, top }
      stay()
    },
    [leave, stay],
  )
  const follow = useCallback(() => {
    held.current = 'end'
    setAway(null)
    stay()
  }, [stay])
  const toEnd = useCallback(() => {
    // What a hand did before does not end it.
    touched.current = 0
    follow()
  }, [follow])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the transcript may move the end; what is below the list comes and goes with the others.
  useLayoutEffect(stay, [stay, version, away, scrolls])

  useEffect(() => {
    const element = box.current
    if (!element) return
    const head = (to: Heading, target: Element) => {
      const handle = list.current
      heading.current = to
      touched.current = performance.now()
      if (!handle) return
      if (to === 'up' && handle.scrollSize > handle.viewportSize) leave()
      // Where there is nothing further down, nothing will scroll.
      else if (to === 'down' && held.current !== 'end' && isAtEnd(element) && !scrollsWithin(element, target))
        follow()
    }
    const onInput = (event: Event) => {
      const target = event.target as Element
      if (held.current !== 'end' && event.type !== 'pointermove') leave()
      if (event instanceof WheelEvent) {
        pressed.current = null
        if (event.deltaY) head(event.deltaY < 0 ? 'up' : 'down', target)
      } else if (event instanceof KeyboardEvent) {
        const to = headingOf(event)
        if (to) head(to, target)
        // The list itself is under the pointer where its scrollbar is.
      } else if (target.matches('.list')) {
        grabbed.current ||= event.type === 'pointerdown'
        head(null, target)
      }
    }
    // A finger that goes down draws what is above into sight.
    const onTouch = (event: TouchEvent) => {
      const y = event.touches[0]?.clientY ?? 0
      const target = event.target as Element
      if (event.type === 'touchmove' && y !== finger.current) head(y > finger.current ? 'up' : 'down', target)
      finger.current = y
    }
    // What is pressed stays under the pointer: a button that moves away before it is let go takes no click.
    const press = (event: PointerEvent) => {
      const row = rowIn(element.querySelector('.list'), event.target as Element)
      if (!row) return
      const hold = { sequence: Number(row.dataset.sequence), top: topOf(row) }
      pressed.current = { hold, x: event.clientX, y: event.clientY }
    }
    const drag = (event: PointerEvent) => {
      const from = pressed.current
      if (from && Math.hypot(event.clientX - from.x, event.clientY - from.y) > DRAG) pressed.current = null
    }
    const release = (event: PointerEvent) => {
      if (grabbed.current) touched.current = performance.now()
      grabbed.current = false
      if (!pressed.current) return
      // A finger that scrolls has nothing to click.
      if (event.type === 'pointercancel') pressed.current = null
      // After the click, which may open what was pressed.
      else
        setTimeout(() => {
          pressed.current = null
          stay()
        })
    }
    // Opening anything that folds out is reading it, where it is.
    const onClick = (event: Event) => {
      const opener = (event.target as Element).closest('[aria-expanded]')
      const row = opener && rowIn(element.querySelector('.list'), opener)
      if (opener && row) hold(Number(row.dataset.sequence), topOf(row) - lift(opener, row))
    }
    const inputs = ['wheel', 'pointerdown', 'pointermove', 'keydown']
    for (const name of inputs) element.addEventListener(name, onInput, { passive: true })
    for (const name of TOUCHES) element.addEventListener(name, onTouch, { passive: true })
    element.addEventListener('pointerdown', press, { passive: true })
    element.addEventListener('pointermove', drag, { passive: true })
    window.addEventListener('pointerup', release, { passive: true })
    window.addEventListener('pointercancel', release, { passive: true })
    element.addEventListener('click', onClick, { capture: true })
    return () => {
      for (const name of TOUCHES) element.removeEventListener(name, onTouch)
      element.removeEventListener('pointerdown', press)
      element.removeEventListener('pointermove', drag)
      window.removeEventListener('pointerup', release)
      window.removeEventListener('pointercancel', release)
      for (const name of inputs) element.removeEventListener(name, onInput)
      element.removeEventListener('click', onClick, { capture: true })
    }
  }, [box, list, leave, hold, follow, stay])

  const onScroll = useCallback(
    (now: number) => {
      const moment = performance.now()
      const byHand = grabbed.current || moment - touched.current < BY_HAND_MS
      // What a hand has set going runs on by itself for a while.
      if (byHand) touched.current = moment
      const to = heading.current ?? (now < offset.current ? 'up' : 'down')
      if (byHand && to === 'up' && now < offset.current && !isAtEnd(box.current)) leave()
      else if (
        byHand &&
        to === 'down' &&
        now > offset.current &&
        isAtEnd(box.current) &&
        held.current !== 'end'
      )
        follow()
      offset.current = now
    },
    [box, leave, follow],
  )
  const onResize = useCallback(() => {
    const handle = list.current
    if (handle) setScrolls(handle.scrollSize > handle.viewportSize + 1)
    if (queued.current) return
    queued.current = true
    // Once the rows that were measured have been laid out.
    queueMicrotask(() => {
      queued.current = false
      stay()
    })
  }, [list, stay])
  return { away, scrolls, leave, hold, toEnd, onScroll, onResize }
}

/** Whether the end is in sight; as it is laid out, since the list itself hears of a change of its height only later. */
function isAtEnd(box: Element | null): boolean {
  const list = box?.querySelector('.list')
  return !!list && list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR
}

/** Where a key scrolls to; null if it does something else. */
function headingOf({ key, shiftKey, target }: KeyboardEvent): Heading {
  if (key === ' ' && !(target as Element).closest('button, a, input, select, textarea'))
    return shiftKey ? 'up' : 'down'
  if (UPWARD_KEYS.has(key)) return 'up'
  return DOWNWARD_KEYS.has(key) ? 'down' : null
}

/** Whether what is under a pointer or has the focus has lines below of its own, so that it scrolls and not the list. */
function scrollsWithin(box: Element, target: Element): boolean {
  for (let one: Element | null = target; one && one !== box; one = one.parentElement) {
    if (one.matches('.list') && one.parentElement === box) return false
    const further = one.scrollHeight - one.clientHeight - one.scrollTop > 1
    if (further && /auto|scroll/.test(getComputedStyle(one).overflowY)) return true
  }
  return false
}

/** How far a list must be scrolled to be where it is held, in pixels; null if it is there. */
function target(hold: Hold, list: VListHandle, element: HTMLElement): number | null {
  if (hold === 'end') return element.scrollHeight - element.clientHeight
  const top = list.getItemOffset(hold.sequence - 1)
  if (hold.top !== 'in sight') return top - hold.top
  const bottom = top + list.getItemSize(hold.sequence - 1)
  if (top < element.scrollTop) return top
  return bottom > element.scrollTop + element.clientHeight ? bottom - element.clientHeight : null
}

/** The row of a list that holds an element; what is opened in place may have a list of its own. */
export function rowIn(list: Element | null, element: Element): HTMLElement | null {
  let row = element.closest<HTMLElement>('article')
  while (row && row.closest('.list') !== list)
    row = row.parentElement?.closest<HTMLElement>('article') ?? null
  return row
}

/** How many pixels a row must go up so that there is room below what opens in it. */
function lift(opener: Element, row: HTMLElement): number {
  if (opener.getAttribute('aria-expanded') === 'true') return 0
  const list = (row.closest('.list') as HTMLElement).getBoundingClientRect()
  const room = Math.min(ROOM, list.height / 2)
  return Math.max(0, opener.getBoundingClientRect().bottom - (list.bottom - room))
}

/** How many pixels a row is below the top of what is shown of its list. */
function topOf(row: HTMLElement): number {
  const list = row.closest('.list') as HTMLElement
  return row.getBoundingClientRect().top - list.getBoundingClientRect().top
}
