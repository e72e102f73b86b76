import { RotateCw } from 'lucide-react'

/** Says what failed and why, and tries again on request. */
export function Failure({ reason, retry }: { reason: string; retry: () => void }) {
  return (
    <div role="alert" className="failure">
      <span>{reason}</span>
      <button type="button" onClick={retry}>
        <RotateCw size={14} aria-hidden /> Retry
      </button>
    </div>
  )
}
