import { RotateCw } from 'lucide-react'
import type { MouseEvent } from 'react'
import { focusAround } from './focus'

interface Props {
  reason: string
  retry: () => void
  /** `status` where something stands in the place of what failed. */
  role?: 'alert' | 'status'
}

/** Says what failed and why, and tries again on request. */
export function Failure({ reason, retry, role = 'alert' }: Props) {
  const press = (event: MouseEvent<HTMLElement>) => {
    // The button goes with what it says; the keyboard goes on from what it stood in.
    focusAround(event.currentTarget)
    retry()
  }
  return (
    <div role={role} className="failure">
      <span>{reason}</span>
      <button type="button" onClick={press}>
        <RotateCw size={14} aria-hidden /> Retry
      </button>
    </div>
  )
}
