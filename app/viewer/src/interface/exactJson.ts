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
/**
 * Where JavaScript may write a number in another way: with 16 digits or more, an exponent, a small fraction, a zero at a
 * fraction's end or the sign of a zero. What is found may stand in a string; what is not, need not be looked at.
 */
const OTHERWISE =
  /\d[\d.]{15}|0\.0{6}|(?:^|[[,:\s])-?(?:\d+(?:\.\d+)?[eE]|\d+\.\d*0(?:[\],}\s]|$))|(?:^|[[,:\s])-0(?:[\],}\s]|$)/

export function parseExactly(text: string): unknown {
  return JSON.parse(text, rawJSON && OTHERWISE.test(text) ? keep : undefined)
}

export function isExact(value: unknown): value is Exact {
  return isRawJSON?.(value) ?? false
}

const keep: Reviver = (_, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source ? value : rawJSON?.(context.source)
}
