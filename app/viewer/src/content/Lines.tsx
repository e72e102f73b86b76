import { useMemo, useRef, useState } from 'react'
import { fetchLines, type Lines as Part } from '../card/contents'
import type { ToolCall } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { count } from '../interface/format'
import { AsTree, mayBeTree } from './AsTree'
import { CodeParts } from './Code'
import { isDiff } from './changes'
import { fenceAround, withinFence } from './fence'
import { languageOf } from './languages'
import type { Part as Text } from './Parts'
import { TerminalParts } from './Terminal'
import { unnumbered } from './Text'

const TAIL = 200
/** Of a long line so much is shown; the rest is in the download. */
const MOST_LINE = 20_000
/** How JSON begins that holds anything, and what a program prints does not: `[INFO]`, `[1/5]`. */
const JSON_BEGINS = /^\s*(?:[\s[]*\{\s*"|\[[\s[]*(?:"|(?:-?\d[\d.eE+-]*|true|false|null)\s*,))/

/** A large text by lines: the beginning, more when asked for, and its end. */
export function Lines({ id, call, first }: { id: string; call: ToolCall; first: Part }) {
  const [parts, setParts] = useState<readonly Part[]>([first])
  const [end, setEnd] = useState<Part | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<{ reason: string; retry: () => void } | null>(null)
  const last = parts[parts.length - 1] as Part
  const fence = useMemo(() => fenceAround(end ? [...parts, end] : parts, call), [parts, end, call])
  const language = useMemo(
    () => languageIn(fence === null ? first : withinFence(first), call),
    [first, fence, call],
  )
  const read = (from: number, size: number | undefined, take: (part: Part) => void) => {
    if (busy) return
    setBusy(true)
    setFailure(null)
    fetchLines(id, from, size)
      .then(take, (error: Error) =>
        setFailure({ reason: error.message, retry: () => read(from, size, take) }),
      )
      .finally(() => setBusy(false))
  }
  const more = () => read(last.nextFrom as number, undefined, (part) => setParts([...parts, part]))
  const shown = { call, language, isFenced: fence !== null }
  const lines = (
    <>
      <Joined parts={parts} {...shown} />
      {last.nextFrom !== null && (
        <div className="further">
          <button type="button" className="more" aria-disabled={busy} onClick={more}>
            Show more: {count(last.nextFrom - 1)} of {count(last.totalLines)} lines
          </button>
          {!end && (
            <button
              type="button"
              className="more"
              aria-disabled={busy}
              onClick={() => read(-TAIL, TAIL, setEnd)}
            >
              Show the end
            </button>
          )}
        </div>
      )}
      {busy && (
        <p role="status" className="note">
          Loading lines
        </p>
      )}
      {failure && <Failure reason={failure.reason} retry={failure.retry} />}
      {end && last.nextFrom !== null && (
        <>
          <p className="note">
            The end, from line {count(end.from)} of {count(end.totalLines)}:
          </p>
          <Joined parts={[end]} {...shown} />
        </>
      )}
    </>
  )
  if (!mayBeTree(language, call)) return lines
  return (
    <AsTree id={id} call={call}>
      {lines}
    </AsTree>
  )
}

interface JoinedProps {
  /** Each begins where the one before it ended. */
  parts: readonly Part[]
  call: ToolCall
  language: string
  /** Whether a fence is around all of the output, which is not shown. */
  isFenced: boolean
}

/** Parts that follow each other, in one box. */
function Joined({ parts, call, language, isFenced }: JoinedProps) {
  const known = useRef({ isFenced, texts: new WeakMap<Part, Text[]>() })
  const texts = useMemo(() => {
    if (known.current.isFenced !== isFenced) known.current = { isFenced, texts: new WeakMap() }
    return parts.flatMap((part) => {
      const text = known.current.texts.get(part) ?? textsOf(isFenced ? withinFence(part) : part)
      known.current.texts.set(part, text)
      return text
    })
  }, [parts, isFenced])
  const label = `Output from line ${parts[0]?.from}`
  const printed =
    (call.kind === 'EXECUTE' && language !== 'json') || texts.some(({ text }) => text.includes('\u001b'))
  return (
    <>
      {printed ? (
        <TerminalParts parts={texts} label={label} copyLabel={copyLabel(parts, isFenced)} />
      ) : (
        <CodeParts parts={texts} language={language} label={label} copyLabel={copyLabel(parts, isFenced)} />
      )}
      {parts.some(isCut) && (
        <p className="note">Very long lines are cut where … stands; the download has all of them.</p>
      )}
    </>
  )
}

/** A part with the numbers that the agent put before its lines, else those of the output's own lines; none if it is empty. */
function textsOf(part: Part): Text[] {
  if (!part.lines.length) return []
  const cut = new Set(part.truncated)
  const text = part.lines.map((line, index) => short(line, cut.has(part.from + index))).join('\n')
  const numbered = unnumbered(text)
  return [numbered ? { text: numbered.text, firstLine: numbered.first } : { text, firstLine: part.from }]
}

/** As much of a line as is shown, with a mark where it is cut. Of one that was overwritten, that is how it ended. */
function short(line: string, isCut: boolean): string {
  const states = line.replace(/\r+$/, '')
  const last = states.lastIndexOf('\r')
  if (last < 0 || (!isCut && line.length <= MOST_LINE)) {
    return isCut || line.length > MOST_LINE ? `${line.slice(0, MOST_LINE)}…` : line
  }
  // Where the line goes on, its last state is only begun.
  const end = isCut ? states.slice(0, last) : states
  const state = end.slice(end.lastIndexOf('\r') + 1)
  const shown = state.length > MOST_LINE ? state.slice(0, MOST_LINE) : end.slice(-MOST_LINE)
  return `…\r${shown}${isCut || state.length > MOST_LINE ? ' …' : ''}`
}

/** What copying these parts copies: all of the output, or so many lines of it. */
function copyLabel(parts: readonly Part[], isFenced: boolean): string {
  if (parts.some(isCut)) return 'Copy what is shown'
  if (parts[0]?.from === 1 && parts[parts.length - 1]?.nextFrom === null) return 'Copy output'
  const shown = isFenced ? parts.map(withinFence) : parts
  const lines = shown.reduce((sum, part) => sum + part.lines.length, 0)
  return lines === 1 ? 'Copy this line' : `Copy these ${count(lines)} lines`
}

function isCut(part: Part): boolean {
  return part.truncated.length > 0 || part.lines.some((line) => line.length > MOST_LINE)
}

/** The language of the file that was read, else what the beginning looks like. */
function languageIn(first: Part, call: ToolCall): string {
  const known = call.kind === 'READ' ? languageOf(call.locations[0]?.path ?? call.title) : ''
  if (known) return known
  const text = first.lines.join('\n')
  // A recorded change of a file is its path, and then its hunks.
  if (isDiff(text) || /^[^\n]+\n@@ -\d/.test(text)) return 'diff'
  return JSON_BEGINS.test(text) ? 'json' : ''
}
