import { memo, useMemo, useState } from 'react'
import type { ToolCall } from '../graphql/documents'
import { parseExactly } from '../interface/exactJson'
import { Code } from './Code'
import { isDiff, parse } from './changes'
import { Diff } from './Diff'
import { JsonTree } from './JsonTree'
import { languageOf } from './languages'
import { Prose } from './Prose'
import { Terminal } from './Terminal'

const MOST_JSON = 500_000

/** A tool's text in the view that fits what the tool does. */
export const Text = memo(function Text({ text, call }: { text: string; call: ToolCall }) {
  const json = useMemo(() => parseJson(text), [text])
  const changes = useMemo(() => (isDiff(text) ? parse(text) : []), [text])
  if (json !== undefined) return <Json value={json} text={text} />
  if (changes.length) {
    return changes.map((change, index) => <Diff key={index} change={change} copy={text} />)
  }
  if (call.kind === 'EXECUTE' || text.includes('\u001b')) return <Terminal text={text} label="Output" />
  if (call.kind === 'THINK' || call.kind === 'FETCH' || call.childSession) {
    return (
      <div className="prose">
        <Prose text={text} />
      </div>
    )
  }
  return <File text={text} path={call.kind === 'READ' ? (call.locations[0]?.path ?? call.title) : null} />
})

/** A file's text; numbers that the agent put before each line become line numbers. */
export function File({ text, path }: { text: string; path: string | null }) {
  const numbered = useMemo(() => unnumbered(text), [text])
  return (
    <Code
      text={numbered?.text ?? text}
      firstLine={numbered?.first ?? null}
      language={languageOf(path)}
      label={path ? 'File' : 'Output'}
    />
  )
}

/** A JSON value as a tree, with its text to copy. */
function Json({ value, text }: { value: unknown; text: string }) {
  const [asText, setAsText] = useState(false)
  return (
    <>
      <button type="button" className="quiet switch" aria-pressed={asText} onClick={() => setAsText(!asText)}>
        Text
      </button>
      {asText ? (
        <Code text={text} language="json" label="JSON" />
      ) : (
        <div className="tree">
          <JsonTree value={value} />
        </div>
      )}
    </>
  )
}

/** The object or array that a text is; undefined if it is another value or none. */
export function parseJson(text: string, most = MOST_JSON): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > most) return undefined
  try {
    const value = parseExactly(text)
    return value !== null && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

/** Take "   12→" (Claude Code) or "12\t" off each line, where all lines have it and count up. */
export function unnumbered(text: string): { first: number; text: string } | null {
  const lines = text.replace(/\n$/, '').split('\n')
  const kept: string[] = []
  let first = 0
  for (const line of lines) {
    const match = /^ *(\d+)(?:→|\t)(.*)$/.exec(line)
    if (!match) return null
    const number = Number(match[1])
    if (!kept.length) first = number
    else if (number !== first + kept.length) return null
    kept.push(match[2] as string)
  }
  return { first, text: kept.join('\n') }
}
