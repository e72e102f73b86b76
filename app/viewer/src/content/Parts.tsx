/** Texts that come part by part, and the numbers of their lines. */
import { useMemo } from 'react'

export interface Part {
  text: string
  /** The number of the first line; without it, lines have none. */
  firstLine: number | null
}

/** All that has come of a text. */
export function joined(parts: readonly Part[]): string {
  return parts.map((part) => part.text).join('\n')
}

export function LineNumbers({ first, count }: { first: number; count: number }) {
  const numbers = useMemo(
    () => Array.from({ length: count }, (_, index) => first + index).join('\n'),
    [first, count],
  )
  return (
    <pre className="numbers" aria-hidden>
      {numbers}
    </pre>
  )
}
