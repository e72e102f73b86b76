import { useMemo, useState } from 'react'
import { fetchLines, type Lines as Part } from '../card/contents'
import type { ToolCall } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { count } from '../interface/format'
import { Code } from './Code'
import { isDiff } from './changes'
import { languageOf } from './languages'
import { Terminal } from './Terminal'

const TAIL = 200
/** Of a long line so much is shown; the rest is in the download. */
const MOST_LINE = 20_000

/** A large text by lines: the beginning, more when asked for, and its end. */
export function Lines({ id, call, first }: { id: string; call: ToolCall; first: Part }) {
  const [parts, setParts] = useState<readonly Part[]>([first])
  const [end, setEnd] = useState<Part | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<{ reason: string; retry: () => void } | null>(null)
  const last = parts[parts.length - 1] as Part
  const language = useMemo(() => languageIn(first, call), [first, call])
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
  return (
    <>
      {parts.map((part) => (
        <One key={part.from} part={part} call={call} language={language} />
      ))}
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
          <One part={end} call={call} language={language} />
        </>
      )}
    </>
  )
}

function One({ part, call, language }: { part: Part; call: ToolCall; language: string }) {
  const cut = part.lines.some((line) => line.length > MOST_LINE) || part.truncated.length > 0
  const text = part.lines.map((line) => line.slice(0, MOST_LINE)).join('\n')
  return (
    <>
      {call.kind === 'EXECUTE' || text.includes('\u001b') ? (
        <Terminal text={text} label={`Output from line ${part.from}`} />
      ) : (
        <Code text={text} language={language} label={`Output from line ${part.from}`} />
      )}
      {cut && <p className="note">Very long lines are cut here; the download has all of them.</p>}
    </>
  )
}

/** The language of the file that was read, else what the beginning looks like. */
function languageIn(first: Part, call: ToolCall): string {
  const known = call.kind === 'READ' ? languageOf(call.locations[0]?.path ?? call.title) : ''
  if (known) return known
  const text = first.lines.join('\n')
  if (isDiff(text)) return 'diff'
  return /^\s*[[{]/.test(text) ? 'json' : ''
}
