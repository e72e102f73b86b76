import { useCallback, useRef } from 'react'
import { later } from '../interface/later'
import { Link } from '../interface/navigation'
import { setOpened, useOpened } from '../interface/opened'
import { useShortcutsOn } from '../interface/shortcuts'
import { visible } from '../interface/visible'

const Messages = later(() => import('../session/Place'))

/** The session of the sub-agent that a call started, opened in place; keys walk through it while the focus is here. */
export function ChildSession({ session }: { session: { id: string; title: string | null } }) {
  const key = `in place ${session.id}`
  const open = useOpened(key)
  const section = useRef<HTMLElement>(null)
  const keysAreOn = useShortcutsOn()
  const leave = useCallback(() => {
    const head = section.current?.closest('.card')?.querySelector<HTMLElement>('[data-primary]')
    head?.focus({ preventScroll: true })
    head?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <section ref={section} className="child" aria-label="The sub-agent's session">
      <p className="foot">
        <button type="button" aria-expanded={open} onClick={() => setOpened(key, !open)}>
          {open ? 'Close the sub-agent’s session' : 'Open the sub-agent’s session here'}
        </button>
        <Link to={`/sessions/${session.id}`}>{visible(session.title ?? 'Untitled session')}</Link>
        {open && (
          <span className="ways">
            {keysAreOn && (
              <span className="by-keyboard">
                <kbd>j</kbd>
                <kbd>k</kbd> through it
              </span>
            )}
            <button type="button" className="quiet" onClick={leave}>
              Back to its call <kbd className="by-keyboard">Esc</kbd>
            </button>
          </span>
        )}
      </p>
      {open && (
        <Messages
          id={session.id}
          within={section}
          leave={leave}
          fallback={<p className="note">Loading the session</p>}
        />
      )}
    </section>
  )
}
