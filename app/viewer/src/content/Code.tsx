import { memo, startTransition, useEffect, useMemo, useState } from 'react'
import { CopyButton } from '../interface/CopyButton'
import { visible } from '../interface/visible'
import { joined, LineNumbers, type Part } from './Parts'

/** Longer texts are shown without colours: highlighting would keep the page busy. */
const MOST_CHARACTERS = 100_000
/** A diff is coloured by the beginnings of its lines, which takes little time. */
const MOST_OF_DIFF = 500_000
const MOST_LINE = 5_000

type Highlight = (text: string, language: string) => string
let highlighter: Highlight | null = null

function useHighlighter(wanted: boolean): Highlight | null {
  const [, arrived] = useState(false)
  useEffect(() => {
    if (!wanted || highlighter) return
    let mounted = true
    import('./highlighter').then(
      (module) => {
        highlighter = module.highlight
        if (mounted) startTransition(() => arrived(true))
      },
      // Without colours it can be read as well; the next code asks again.
      () => undefined,
    )
    return () => {
      mounted = false
    }
  }, [wanted])
  return highlighter
}

interface Props {
  text: string
  language: string
  label?: string
  /** The number of the first line; without it, lines have none. */
  firstLine?: number | null
  copy?: boolean
  /** What copying copies, where that is not all that the label names. */
  copyLabel?: string
}

/** Program text in its language's colours. */
export const Code = memo(function Code({ text, firstLine = null, ...others }: Props) {
  const parts = useMemo(() => [{ text, firstLine }], [text, firstLine])
  return <CodeParts parts={parts} {...others} />
})

interface PartsProps extends Omit<Props, 'text' | 'firstLine'> {
  parts: readonly Part[]
}

/** The same of a text that comes part by part; each has colours of its own. */
export function CodeParts({
  parts,
  language,
  label = 'Code',
  copy = true,
  copyLabel = `Copy ${label.toLowerCase()}`,
}: PartsProps) {
  return (
    <div className="code">
      {copy && (
        <div className="corner">
          <CopyButton text={() => joined(parts)} label={copyLabel} />
        </div>
      )}
      <section className="scroll" tabIndex={0} aria-label={label}>
        {parts.map((part, index) => (
          <Lines key={index} part={part} language={language} />
        ))}
      </section>
    </div>
  )
}

const Lines = memo(function Lines({ part, language }: { part: Part; language: string }) {
  const shown = useMemo(() => visible(part.text), [part])
  const most = language === 'diff' ? MOST_OF_DIFF : MOST_CHARACTERS
  const wanted = language !== '' && shown.length <= most && !longLine(shown)
  const highlighting = useHighlighter(wanted)
  const html = useMemo(
    () => (wanted && highlighting ? highlighting(shown, language) : null),
    [wanted, highlighting, shown, language],
  )
  return (
    <div className="part">
      {part.firstLine !== null && <LineNumbers first={part.firstLine} count={shown.split('\n').length} />}
      <pre>
        {html === null ? (
          <code>{shown}</code>
        ) : (
          // biome-ignore lint/security/noDangerouslySetInnerHtml: highlight.js escapes all of the text.
          <code dangerouslySetInnerHTML={{ __html: html }} />
        )}
      </pre>
    </div>
  )
})

function longLine(text: string): boolean {
  for (let start = 0; ; ) {
    const end = text.indexOf('\n', start)
    if ((end < 0 ? text.length : end) - start > MOST_LINE) return true
    if (end < 0) return false
    start = end + 1
  }
}
