import { RotateCw } from 'lucide-react'
import type { MouseEvent } from 'react'

/** Says what failed and why, and tries again on request. */
export function Failure({ reason, retry }: { reason: string; retry: () => void }) {
  const press = (event: MouseEvent<HTMLElement>) => {
    // The button goes with what it says; the keyboard goes on from what it stood in.
    event.currentTarget.parentElement?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
    retry()
  }
  return (
    <div role="alert" className="failure">
      <span>{reason}</span>
      <button type="button" onClick={press}>
        <RotateCw size={14} aria-hidden /> Retry
      </button>
    </div>
  )
}
