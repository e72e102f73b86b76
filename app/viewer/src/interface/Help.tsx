import { X } from 'lucide-react'
import { useLayoutEffect, useRef } from 'react'
import { setShortcutsOn, useShortcutsOn } from './shortcuts'

const KEYS: [string, string][] = [
  ['j, k', 'next and previous message or session'],
  ['Enter', 'open or close it'],
  ['g, G', 'first and last'],
  ['/', 'search sessions; in a session, go to a message by its number'],
  ['?', 'this sheet'],
  ['Esc', 'leave a field or a sub-agent’s session, close a sheet'],
]

/** The keys, and the switch that turns them off. */
export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const on = useShortcutsOn()
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    // Closed before it goes, it gives the focus back to what had it.
    return () => shown?.close()
  }, [])
  return (
    <dialog ref={dialog} className="help" aria-labelledby="help-title" onClose={close}>
      <header>
        <h2 id="help-title">Keyboard</h2>
        <button type="button" className="quiet" onClick={close} aria-label="Close">
          <X size={16} aria-hidden />
        </button>
      </header>
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(', ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={on} onChange={(event) => setShortcutsOn(event.target.checked)} /> Use
        single keys
      </label>
    </dialog>
  )
}
