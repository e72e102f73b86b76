/** Outputs that an agent put into a Markdown fence as a whole, such as Claude's over ACP. */
import type { ToolCall } from '../graphql/documents'

/** The text within the fence that encloses all of an output; else the same text. What is Markdown anyhow stays as it is. */
export function unfenced(text: string, call: ToolCall): string {
  if (call.kind === 'THINK' || call.kind === 'FETCH' || call.childSession) return text
  const opening = /^(`{3,})[^`\n]*\n/.exec(text)
  if (!opening) return text
  const [line, fence = ''] = opening
  const end = text.trimEnd()
  const last = end.lastIndexOf('\n') + 1
  if (last < line.length || end.slice(last) !== fence) return text
  const inner = text.slice(line.length, last)
  return inner.startsWith(fence) || inner.includes(`\n${fence}`) ? text : inner
}
