/** Keys without modifiers, which a person can turn off (WCAG 2.1.4). */
import { type RefObject, useEffect, useSyncExternalStore } from 'react'
import { store, stored } from './storage'

const KEY = 'toolfold-shortcuts'
const listeners = new Set<() => void>()

export function useShortcutsOn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => stored(KEY) !== 'off',
  )
}

export function setShortcutsOn(on: boolean): void {
  store(KEY, on ? 'on' : 'off')
  for (const listener of listeners) listener()
}

/**
 * Call what belongs to a key, unless something is being typed or a dialog is open. With `within`, while the focus is in
 * there, before what it is in hears of the key.
 */
export function useShortcuts(keys: Record<string, () => void>, within?: RefObject<HTMLElement | null>): void {
  const on = useShortcutsOn()
  useEffect(() => {
    const place = within ? within.current : document
    if (!place) return
    const press = (event: Event) => {
      if (!(event instanceof KeyboardEvent)) return
      // What leads out types no character.
      if (!on && event.key !== 'Escape') return
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.isComposing)
        return
      const target = event.target as HTMLElement
      if (target.closest('input, textarea, select, dialog, [contenteditable]')) return
      // Enter on something that can be pressed presses it.
      if (event.key === 'Enter' && target.closest('button, a, summary, audio')) return
      const action = keys[event.key]
      if (!action) return
      event.preventDefault()
      action()
    }
    place.addEventListener('keydown', press)
    return () => place.removeEventListener('keydown', press)
  }, [on, keys, within])
}
