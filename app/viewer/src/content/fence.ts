/** Outputs that an agent put into a Markdown fence as a whole, such as Claude's over ACP. */
import type { ToolCall } from '../graphql/documents'

const OPENING = /^(`{3,})[^`\n]*(?:\n|$)/

/** The text within the fence that encloses all of an output; else the same text. What is Markdown anyhow stays as it is. */
export function unfenced(text: string, call: ToolCall): string {
  if (isMarkdown(call)) return text
  const opening = OPENING.exec(text)
  if (!opening) return text
  const [line, fence = ''] = opening
  const end = text.trimEnd()
  const last = end.lastIndexOf('\n') + 1
  if (last < line.length || end.slice(last) !== fence) return text
  const inner = text.slice(line.length, last)
  return inner.startsWith(fence) || inner.includes(`\n${fence}`) ? text : inner
}

/** Some of an output's lines; the first of all has the number 1. */
export interface Range {
  from: number
  lines: readonly string[]
  /** Null where the output ends. */
  nextFrom: number | null
}

/** The fence that encloses an output, as far as its lines have been read; null where there is none. */
export function fenceAround(ranges: readonly Range[], call: ToolCall): string | null {
  const [first] = ranges
  if (isMarkdown(call) || first?.from !== 1) return null
  const fence = OPENING.exec(first.lines[0] ?? '')?.[1]
  if (fence === undefined) return null
  const isWithin = ranges.every(({ from, lines, nextFrom }) => {
    const closing = nextFrom === null ? lastWritten(lines) : -1
    return lines.every((line, index) => {
      if (index === closing) return line === fence
      return from + index === 1 || !line.startsWith(fence)
    })
  })
  return isWithin ? fence : null
}

/** The lines of a range that are within the fence around the output. */
export function withinFence<Some extends Range>(range: Some): Some {
  const start = range.from === 1 ? 1 : 0
  const end = range.nextFrom === null ? lastWritten(range.lines) : range.lines.length
  return { ...range, from: range.from + start, lines: range.lines.slice(start, end) }
}

function isMarkdown(call: ToolCall): boolean {
  return call.kind === 'THINK' || call.kind === 'FETCH' || call.childSession !== null
}

function lastWritten(lines: readonly string[]): number {
  return lines.findLastIndex((line) => line.trim() !== '')
}
