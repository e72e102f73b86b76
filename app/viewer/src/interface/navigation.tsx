/** Going from one address to another, without the page being loaded again. */
import { type ComponentProps, type MouseEvent, useSyncExternalStore } from 'react'
import { namedMessage } from './address'

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
