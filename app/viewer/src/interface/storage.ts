/** Choices that the browser keeps for a person; until the page goes where it keeps nothing, as a browser may be told to. */

const unkept = new Map<string, string>()

export function stored(key: string): string | null {
  try {
    return unkept.get(key) ?? localStorage.getItem(key)
  } catch {
    return null
  }
}

export function store(key: string, value: string): void {
  unkept.set(key, value)
  try {
    localStorage.setItem(key, value)
    unkept.delete(key)
  } catch {
    // It is refused, or full.
  }
}
