import { ArrowDown } from 'lucide-react'
import {
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { VList, type VListHandle } from 'virtua'
import { namedMessage, type SessionPlace } from '../interface/address'
import { Failure } from '../interface/Failure'
import { focusQuietly, focusUnlessTaken } from '../interface/focus'
import { count as format } from '../interface/format'
import { setOpened } from '../interface/opened'
import { foldKey, Row } from './Row'
import type { Transcript } from './transcript'
import { rowIn, useFollowing } from './useFollowing'

/** Rows are loaded so far ahead of what is shown. */
const AHEAD = 24
/** Until it has been scrolled to where it begins, or this has passed, what is in sight is not what will be. */
const SETTLING_MS = 500

/** What the keyboard does with a list of messages. */
export interface MessagesHandle {
  move: (by: number) => void
  jump: (sequence: number) => void
  toEnd: () => void
  activate: () => void
  place: () => SessionPlace
  restore: (place: SessionPlace) => void
}

/** The keys that walk through a list of messages. */
export function walking(messages: RefObject<MessagesHandle | null>): Record<string, () => void> {
  return {
    j: () => messages.current?.move(1),
    k: () => messages.current?.move(-1),
    Enter: () => messages.current?.activate(),
    g: () => messages.current?.jump(1),
    G: () => messages.current?.toEnd(),
  }
}

interface Props {
  transcript: Transcript
  /** The message to begin at; null is the end, 0 the beginning. */
  start: number | null
  /** Where a person was who returns. */
  returning?: SessionPlace | null
  /** What links to a message begin with. */
  address: string
  /** Where the button below the list leads. */
  end?: string
  /** Told when other messages come into sight; the page's own list, which has its keys from the start. */
  moved?: () => void
  ref?: Ref<MessagesHandle>
}

/** A session's messages: a list over dense sequences, of which only what is in sight is there. */
export function Messages({
  transcript,
  start,
  returning = null,
  address,
  end = 'To the end',
  moved,
  ref,
}: Props) {
  const list = useRef<VListHandle>(null)
  const box = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState<number | null>(() =>
    returning ? returning.current : start === namedMessage() ? start || null : null,
  )
  const focusNext = useRef(returning !== null && current !== null)
  const frame = useRef(0)
  const settled = useRef(false)
  const following = useFollowing(
    transcript,
    list,
    box,
    start && Math.min(start, transcript.count),
    returning?.top ?? 0,
  )
  const { count } = transcript
  const version = transcript.snapshot()
  const data = useMemo(() => ({ length: count }), [count])

  const load = useCallback(() => {
    const handle = list.current
    if (!handle || !transcript.count || !settled.current) return
    const first = handle.findItemIndex(handle.scrollOffset)
    const last = handle.findItemIndex(handle.scrollOffset + handle.viewportSize)
    transcript.need(first + 1 - AHEAD, last + 1 + AHEAD)
  }, [transcript])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the transcript may show other rows.
  useEffect(load, [load, version])
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.current = true
      load()
    }, SETTLING_MS)
    return () => clearTimeout(timer)
  }, [load])

  const unfold = useCallback(
    (sequence: number) => {
      const [head] = transcript.foldAt(sequence) ?? []
      if (head) setOpened(foldKey(head), true)
    },
    [transcript],
  )
  useEffect(() => {
    // Who returns finds what was folded as it was.
    if (start && !returning) unfold(start)
  }, [start, returning, unfold])
  const makeCurrent = useCallback((sequence: number) => {
    setCurrent(sequence)
    // What is current already is not drawn anew, and has the focus at once.
    focusNext.current = !focus(box.current, sequence)
  }, [])
  const jump = useCallback(
    (sequence: number) => {
      const place = Math.max(1, Math.min(transcript.count, sequence))
      unfold(place)
      makeCurrent(place)
      following.hold(place, 0)
      load()
    },
    [transcript, unfold, makeCurrent, following.hold, load],
  )
  const move = useCallback(
    (by: number) => {
      const handle = list.current
      if (!handle) return
      const seen = handle.findItemIndex(handle.scrollOffset + (by > 0 ? 1 : handle.viewportSize - 1)) + 1
      const from = focused(box.current) ?? current
      let next = from === null ? (following.away === null ? transcript.count : seen) : from + by
      // What is folded away has no height; the line that stands for it is one row.
      while (next > 1 && next < transcript.count && handle.getItemSize(next - 1) === 0) next += by
      next = Math.max(1, Math.min(transcript.count, next))
      makeCurrent(next)
      if (next < transcript.count || by < 0 || following.away !== null) following.hold(next, 'in sight')
      load()
    },
    [current, transcript, makeCurrent, following.hold, following.away, load],
  )
  const activate = useCallback(() => {
    rowOf(box.current, focused(box.current) ?? current)
      ?.querySelector<HTMLElement>('[data-primary]')
      ?.click()
  }, [current])
  const toEnd = useCallback(() => {
    makeCurrent(transcript.count)
    following.toEnd()
  }, [transcript, makeCurrent, following.toEnd])
  const place = useCallback((): SessionPlace => {
    const handle = list.current
    if (!handle) return returning ?? { sequence: start, top: 0, current: null }
    const at = focused(box.current) ?? current
    const seen = at !== null && isInSight(handle, at) ? at : null
    if (following.away === null) return { sequence: null, top: 0, current: seen }
    const first = handle.findItemIndex(handle.scrollOffset)
    return { sequence: first + 1, top: handle.getItemOffset(first) - handle.scrollOffset, current: seen }
  }, [start, returning, current, following.away])
  const restore = useCallback(
    (place: SessionPlace) => {
      if (place.sequence === null) following.toEnd()
      else following.hold(Math.min(transcript.count, place.sequence), place.top)
      if (place.current !== null) {
        makeCurrent(place.current)
      } else {
        setCurrent(null)
        focusNext.current = false
        // Keys go on from what is in sight, not from where the person was in between.
        if (focused(box.current) !== null) focusQuietly(box.current?.querySelector<HTMLElement>('.list'))
      }
      load()
    },
    [transcript, following.toEnd, following.hold, makeCurrent, load],
  )
  useImperativeHandle(ref, () => ({ move, jump, toEnd, activate, place, restore }), [
    move,
    jump,
    toEnd,
    activate,
    place,
    restore,
  ])
  useEffect(() => {
    if (moved) focusUnlessTaken(box.current?.querySelector<HTMLElement>('.list'))
  }, [moved])

  const focusWhatComes = useCallback(() => {
    cancelAnimationFrame(frame.current)
    if (!focusNext.current || !rowOf(box.current, current)) return
    if (focus(box.current, current)) focusNext.current = false
    // A row is hidden, and takes no focus, until it has been measured.
    else frame.current = requestAnimationFrame(focusWhatComes)
  }, [current])
  useEffect(focusWhatComes)

  const unseen = following.away === null ? 0 : Math.max(0, count - following.away)
  const onScroll = useCallback(
    (offset: number) => {
      settled.current = true
      following.onScroll(offset)
      load()
      moved?.()
    },
    [following.onScroll, load, moved],
  )
  return (
    <div className="messages" ref={box}>
      {transcript.state === 'deleted' && (
        <p role="status" className="banner">
          This session has been deleted. What is shown here was loaded before.
        </p>
      )}
      {count === 0 && <p className="empty">No messages yet.</p>}
      <VList
        ref={list}
        className="list"
        role="feed"
        aria-label="Messages"
        tabIndex={0}
        data={data}
        itemSize={64}
        bufferSize={300}
        keepMounted={current === null || current > count ? undefined : [current - 1]}
        onScroll={onScroll}
        onResize={following.onResize}
      >
        {(_, index) => {
          const message = transcript.at(index + 1)
          return (
            <Row
              key={index}
              sequence={index + 1}
              count={count}
              message={message}
              run={transcript.foldAt(index + 1)}
              current={current === index + 1}
              height={message ? 0 : (list.current?.getItemSize(index) ?? 0)}
              address={address}
            />
          )
        }}
      </VList>
      {transcript.problem && (
        <Failure
          reason={`Some messages could not be loaded. ${transcript.problem}`}
          retry={() => transcript.retry()}
        />
      )}
      {following.away !== null && (following.scrolls || unseen > 0) && (
        <button type="button" className={unseen ? 'end fresh' : 'end'} onClick={toEnd}>
          <ArrowDown size={14} aria-hidden /> {unseen ? `${format(unseen)} new` : end}
        </button>
      )}
      <div role="status" className="unseen">
        {unseen ? `${format(unseen)} new ${unseen === 1 ? 'message' : 'messages'}` : ''}
      </div>
    </div>
  )
}

/** Focus the row of a message, where there is one that can be seen: say whether there was. */
function focus(box: HTMLElement | null, sequence: number | null): boolean {
  const row = rowOf(box, sequence)
  row?.focus({ preventScroll: true })
  return row !== null && row === document.activeElement
}

function isInSight(list: VListHandle, sequence: number): boolean {
  const top = list.getItemOffset(sequence - 1) - list.scrollOffset
  return top < list.viewportSize && top + list.getItemSize(sequence - 1) > 0
}

/** The message that has the focus, or holds what has it. */
function focused(box: HTMLElement | null): number | null {
  const { activeElement } = document
  const row =
    activeElement && box?.contains(activeElement) && rowIn(box.querySelector('.list'), activeElement)
  return row ? Number(row.dataset.sequence) : null
}

function rowOf(box: HTMLElement | null, sequence: number | null): HTMLElement | null {
  const list = box?.querySelector('.list')
  const named = list?.querySelectorAll<HTMLElement>(`article[data-sequence="${sequence}"]`) ?? []
  // What is opened in place has messages of its own, by the same numbers.
  return [...named].find((row) => row.closest('.list') === list) ?? null
}
