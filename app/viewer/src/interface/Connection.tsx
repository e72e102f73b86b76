import { useSyncExternalStore } from 'react'
import { isLost, watchLoss } from '../graphql/client'

/** Says when the server is out of reach: what is shown stays, and goes on by itself. */
export function Connection() {
  const lost = useSyncExternalStore(watchLoss, isLost)
  return (
    <div role="status" className="connection">
      {lost && 'The server is out of reach. Trying again; what comes next is shown as soon as it answers.'}
    </div>
  )
}
