/** JSON whose numbers are shown as they were written, where JavaScript would round them. */

/** A number as it was written: `JSON.rawJSON`, which `JSON.stringify` writes as it was too. */
export interface Exact {
  rawJSON: string
}

interface SourceText {
  rawJSON(text: string): Exact
  isRawJSON(value: unknown): value is Exact
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown

// Not in every browser yet: one that lacks it rounds.
const { rawJSON, isRawJSON } = JSON as unknown as Partial<SourceText>
const LONG_NUMBER = /\d{16}|\d[eE][+-]?\d{2}/

export function parseExactly(text: string): unknown {
  return JSON.parse(text, rawJSON && LONG_NUMBER.test(text) ? keep : undefined)
}

export function isExact(value: unknown): value is Exact {
  return isRawJSON?.(value) ?? false
}

const keep: Reviver = (_, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source || !LONG_NUMBER.test(context.source)
    ? value
    : rawJSON?.(context.source)
}
