/** Keys without modifiers, which a person can turn off (WCAG 2.1.4). */
import { useEffect, useSyncExternalStore } from 'react'

const STORED = 'toolfold-shortcuts'
const listeners = new Set<() => void>()

export function useShortcutsOn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => localStorage.getItem(STORED) !== 'off',
  )
}

export function setShortcutsOn(on: boolean): void {
  localStorage.setItem(STORED, on ? 'on' : 'off')
  for (const listener of listeners) listener()
}

/** Call what belongs to a key, unless something is being typed or a dialog is open. */
export function useShortcuts(keys: Record<string, () => void>): void {
  const on = useShortcutsOn()
  useEffect(() => {
    if (!on) return
    const press = (event: KeyboardEvent) => {
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
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [on, keys])
}
