import { useState } from 'react'
import { later } from '../interface/later'
import { Link } from '../interface/navigation'
import { visible } from '../interface/visible'

const Messages = later(() => import('../session/Place'))

/** The session of the sub-agent that a call started, opened in place. */
export function ChildSession({ session }: { session: { id: string; title: string | null } }) {
  const [open, setOpen] = useState(false)
  return (
    <section className="child" aria-label="The sub-agent's session">
      <p className="foot">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Close the sub-agent’s session' : 'Open the sub-agent’s session here'}
        </button>
        <Link to={`/sessions/${session.id}`}>{visible(session.title ?? 'Untitled session')}</Link>
      </p>
      {open && <Messages id={session.id} fallback={<p className="note">Loading the session</p>} />}
    </section>
  )
}
