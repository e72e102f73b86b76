import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { VListHandle } from 'virtua'
import type { Transcript } from './transcript'

/** So near to the end counts as at it, in pixels. */
const NEAR = 32
/** A scroll within so many milliseconds of a person's input is that person's. */
const BY_HAND_MS = 400
const UPWARD_KEYS = new Set(['ArrowUp', 'PageUp', 'Home'])
const SCROLLING_KEYS = new Set([...UPWARD_KEYS, 'ArrowDown', 'PageDown', 'End', ' '])

export interface Following {
  /** How many messages there were when the person moved away; null while the end is followed. */
  away: number | null
  /** Whether there is anything that is not in sight. */
  scrolls: boolean
  leave: () => void
  toEnd: () => void
  onScroll: (offset: number) => void
  onResize: () => void
}

/** Keeps the end in sight as it grows, until the person moves away by wheel, key, touch or opening something. */
export function useFollowing(
  transcript: Transcript,
  list: RefObject<VListHandle | null>,
  box: RefObject<HTMLElement | null>,
  atEnd: boolean,
): Following {
  const [away, setAway] = useState<number | null>(atEnd ? null : transcript.count)
  const [scrolls, setScrolls] = useState(true)
  const following = useRef(atEnd)
  const touched = useRef(0)
  const upward = useRef(0)
  const offset = useRef(0)
  const version = transcript.snapshot()

  const leave = useCallback(() => {
    if (!following.current) return
    following.current = false
    touched.current = 0
    setAway(transcript.count)
  }, [transcript])
  const stay = useCallback(() => {
    if (following.current && transcript.count)
      list.current?.scrollToIndex(transcript.count - 1, { align: 'end' })
  }, [transcript, list])
  const toEnd = useCallback(() => {
    following.current = true
    upward.current = 0
    setAway(null)
    stay()
  }, [stay])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the transcript may move the end.
  useLayoutEffect(stay, [stay, version])

  useEffect(() => {
    const element = box.current
    if (!element) return
    const up = () => {
      const handle = list.current
      upward.current = performance.now()
      if (handle && handle.scrollSize > handle.viewportSize) leave()
    }
    const onInput = (event: Event) => {
      // The list itself is under the pointer where its scrollbar is.
      const scrolls =
        event instanceof KeyboardEvent
          ? SCROLLING_KEYS.has(event.key)
          : !event.type.startsWith('pointer') || (event.target as Element).matches('.list')
      if (!scrolls) return
      touched.current = performance.now()
      if (event instanceof WheelEvent && event.deltaY < 0) up()
      if (event instanceof KeyboardEvent && UPWARD_KEYS.has(event.key)) up()
    }
    // Opening anything that folds out is reading it.
    const onClick = (event: Event) => {
      if ((event.target as Element).closest('[aria-expanded]')) leave()
    }
    const inputs = ['wheel', 'touchmove', 'pointerdown', 'pointermove', 'keydown']
    for (const name of inputs) element.addEventListener(name, onInput, { passive: true })
    element.addEventListener('click', onClick, { capture: true })
    return () => {
      for (const name of inputs) element.removeEventListener(name, onInput)
      element.removeEventListener('click', onClick, { capture: true })
    }
  }, [box, list, leave])

  const onScroll = useCallback(
    (now: number) => {
      const handle = list.current
      if (!handle) return
      const moment = performance.now()
      const atEndNow = now + handle.viewportSize >= handle.scrollSize - NEAR
      const byHand = moment - touched.current < BY_HAND_MS
      // What a hand has set going runs on by itself for a while.
      if (byHand) touched.current = moment
      if (byHand && now < offset.current && !atEndNow) leave()
      else if (byHand && now > offset.current && atEndNow && moment - upward.current > BY_HAND_MS) {
        if (!following.current) toEnd()
      }
      offset.current = now
    },
    [list, leave, toEnd],
  )
  const onResize = useCallback(() => {
    stay()
    const handle = list.current
    if (handle) setScrolls(handle.scrollSize > handle.viewportSize + 1)
  }, [list, stay])
  return { away, scrolls, leave, toEnd, onScroll, onResize }
}
