/** What is wrong with a picture or sound that the browser does not show: it does not tell by itself. */
import { useState } from 'react'

/** Given up after so long; it is asked for the head of an answer alone. */
const PATIENCE_MS = 30_000

/** Why its bytes did not come, or that they came and are none that the browser knows. */
export type Trouble = { reason: string } | 'damaged'

/** Watch over an element with `url`; with `again`, one whose bytes do come is tried a second time, as another element of the key `attempt`. */
export function useTrouble(url: string, again: boolean) {
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [attempt, setAttempt] = useState(0)
  const onError = async () => {
    const reason = await whyNotLoaded(url)
    if (reason !== null) setTrouble({ reason })
    // It may have been lost on its way, and be there now.
    else if (again && attempt === 0) setAttempt(1)
    else setTrouble('damaged')
  }
  const retry = () => {
    setTrouble(null)
    setAttempt(0)
  }
  return { trouble, retry, attempt, element: { src: url, onError } }
}

/** Return why bytes do not come, null where they do. */
async function whyNotLoaded(url: string): Promise<string | null> {
  try {
    const { ok, status } = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PATIENCE_MS) })
    if (ok) return null
    return status === 404 ? 'It is not there any more.' : `The server answered with status ${status}.`
  } catch {
    return 'The server could not be reached.'
  }
}
