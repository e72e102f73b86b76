import { amend } from '../interface/navigation'
import { isNarrowed } from './filter'
import type { Filter } from './store'

interface Props {
  filter: Filter
  projectIsAbsent: boolean
}

/** In the place of rows where there are none. */
export function Nothing({ filter, projectIsAbsent }: Props) {
  if (isNarrowed(filter)) {
    return (
      <p className="empty">
        {projectIsAbsent ? 'There is no such project, or it may not be read.' : 'No session fits.'}{' '}
        <button
          type="button"
          onClick={(event) => {
            // The button goes with what it says.
            event.currentTarget.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
            amend('/')
          }}
        >
          Show all
        </button>
      </p>
    )
  }
  return (
    <div className="empty">
      <p>No sessions yet.</p>
      <p>
        Import what agents left on this disk with <code>toolfold import</code>, or have an agent recorded
        while it works with <code>toolfold acp</code>. They appear here as they come.
      </p>
    </div>
  )
}
