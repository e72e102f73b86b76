import { X } from 'lucide-react'
import { later } from '../interface/later'

const Heavy = later(() => import('./Heavy'))

interface Props {
  id: string
  jump: (sequence: number) => void
  close: () => void
}

/** The panel beside a session that says what is heavy in it. */
export function HeavyPanel({ id, jump, close }: Props) {
  return (
    <aside
      className="heavy"
      tabIndex={-1}
      aria-labelledby="heavy-title"
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <header>
        <h2 id="heavy-title">What is heavy here</h2>
        <button type="button" className="quiet" onClick={close} aria-label="Close">
          <X size={16} aria-hidden />
        </button>
      </header>
      <Heavy id={id} jump={jump} fallback={<AddingUp />} />
    </aside>
  )
}

export function AddingUp() {
  return (
    <p role="status" className="note">
      Adding up sizes
    </p>
  )
}
