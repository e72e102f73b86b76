/** Which cards and folded rows are open, kept outside them so that it outlives scrolling away. */
import { useCallback, useSyncExternalStore } from 'react'

const opened = new Set<string>()
const listeners = new Set<() => void>()

export function setOpened(key: string, open: boolean): void {
  if (open) opened.add(key)
  else opened.delete(key)
  for (const listener of listeners) listener()
}

export function isOpened(key: string): boolean {
  return opened.has(key)
}

export function useOpened(key: string): boolean {
  const snapshot = useCallback(() => opened.has(key), [key])
  return useSyncExternalStore(subscribe, snapshot)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}
