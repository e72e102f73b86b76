/** The viewer's addresses: `/`, and `/sessions/{id}` with `#m{sequence}` for a message. */

/** The session that a path names. */
export function sessionIn(path: string): string | null {
  const id = /^\/sessions\/([^/]+)\/?$/.exec(path)?.[1]
  if (id === undefined) return null
  try {
    return decodeURIComponent(id)
  } catch {
    // It stands for no text, so that there is no session of that name.
    return id
  }
}

/** Whether a path is that of all sessions. */
export function isList(path: string): boolean {
  return path === '/'
}

/** The message that the address names. */
export function namedMessage(): number | null {
  const match = /^#m([1-9]\d{0,8})$/.exec(location.hash)
  return match ? Number(match[1]) : null
}

/** Where a person was in what the address shows, if it is returned to; each view knows its own places. */
export function placeBefore<Place>(): Place | null {
  return (history.state as { place?: Place } | null)?.place ?? null
}

/** A place in a session. */
export interface SessionPlace {
  /** The first message in sight; null while the end is followed. */
  sequence: number | null
  /** How many pixels that message begins below the top of what is shown: none or less. */
  top: number
  /** The message in sight that is the current one. */
  current: number | null
}

/** The message to begin a session at: where a person was, else what the address names; null is the end. */
export function beginning(): number | null {
  const place = placeBefore<SessionPlace>()
  return place ? place.sequence : namedMessage()
}
