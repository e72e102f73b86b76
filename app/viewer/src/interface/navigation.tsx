/** The viewer's addresses: `/`, and `/sessions/{id}` with `#m{sequence}` for a message. */
import { type ComponentProps, type MouseEvent, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
if (typeof window !== 'undefined') window.addEventListener('popstate', tell)

export function go(address: string): void {
  history.pushState(null, '', address)
  tell()
}

/** Change the address without a step in the browser's history. */
export function amend(address: string): void {
  history.replaceState(history.state, '', address)
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

/** The message that the address names. */
export function useNamedMessage(): number | null {
  return useSyncExternalStore(subscribe, namedMessage)
}

export function namedMessage(): number | null {
  const match = /^#m([1-9]\d{0,8})$/.exec(location.hash)
  return match ? Number(match[1]) : null
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
