/** The viewer's addresses: `/`, and `/sessions/{id}` with `#m{sequence}` for a message. */

/** The session that a path names. */
export function sessionIn(path: string): string | null {
  const id = /^\/sessions\/([^/]+)\/?$/.exec(path)?.[1]
  return id === undefined ? null : decodeURIComponent(id)
}

/** The message that the address names. */
export function namedMessage(): number | null {
  const match = /^#m([1-9]\d{0,8})$/.exec(location.hash)
  return match ? Number(match[1]) : null
}
