/** Going from one address to another, without the page being loaded again. */
import { type ComponentProps, type MouseEvent, useEffect, useSyncExternalStore } from 'react'
import { namedMessage } from './address'

const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
let visits = 0
const arrive = () => {
  visits++
  clearTimeout(noting)
  tell()
}
if (typeof window !== 'undefined') window.addEventListener('popstate', arrive)

/** A place is written down when a person has rested there for so long: browsers take few changes a second. */
const REST_MS = 200
let noting: ReturnType<typeof setTimeout> | undefined
let reader: (() => unknown) | null = null

export function go(address: string): void {
  writeDown()
  history.pushState(null, '', address)
  arrive()
}

function writeDown(): void {
  clearTimeout(noting)
  if (reader) history.replaceState({ place: reader() }, '')
}

/** Let the browser's history know where in the view a person is, by `read`: call what is returned when that changes. */
export function usePlace(read: () => unknown): () => void {
  useEffect(() => {
    reader = read
    return () => {
      clearTimeout(noting)
      if (reader === read) reader = null
    }
  }, [read])
  return notePlace
}

function notePlace(): void {
  clearTimeout(noting)
  noting = setTimeout(writeDown, REST_MS)
}

/** Change the address without a step in the browser's history. */
export function amend(address: string): void {
  history.replaceState(null, '', address)
  tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname)
}

export function useQuery(): string {
  return useSyncExternalStore(subscribe, () => location.search)
}

/** A number that changes with each step in the browser's history. */
export function useVisit(): number {
  return useSyncExternalStore(subscribe, () => visits)
}

/** The message that the address names. */
export function useNamedMessage(): number | null {
  return useSyncExternalStore(subscribe, namedMessage)
}

/** A link within the viewer; with a modifier key the browser does as always. */
export function Link({ to, ...rest }: { to: string } & Omit<ComponentProps<'a'>, 'href'>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    rest.onClick?.(event)
    if (
      event.defaultPrevented ||
      event.button ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    event.preventDefault()
    go(to)
  }
  return <a {...rest} href={to} onClick={follow} />
}
