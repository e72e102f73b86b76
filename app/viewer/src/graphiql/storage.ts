import type { Storage } from '@graphiql/toolkit'

/** Where GraphiQL keeps tabs and history; nothing where its own way, the browser's storage, is open to it. */
export function storage(): Storage | undefined {
  try {
    if (localStorage) return undefined
  } catch {
    // A browser may be told to keep nothing.
  }
  return new UntilThePageGoes()
}

class UntilThePageGoes implements Storage {
  private readonly values = new Map<string, string>()

  get length(): number {
    return this.values.size
  }

  getItem(key: string): string | null {
    return this.values.get(key) ?? null
  }

  setItem(key: string, value: string): void {
    this.values.set(key, value)
  }

  removeItem(key: string): void {
    this.values.delete(key)
  }

  clear(): void {
    this.values.clear()
  }
}
