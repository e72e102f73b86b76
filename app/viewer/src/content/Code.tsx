import { memo, startTransition, useEffect, useMemo, useState } from 'react'
import { CopyButton } from '../interface/CopyButton'
import { visible } from '../interface/visible'

/** Longer texts are shown without colours: highlighting would keep the page busy. */
const MOST_CHARACTERS = 100_000
const MOST_LINE = 5_000

type Highlight = (text: string, language: string) => string
let highlighter: Highlight | null = null

function useHighlighter(wanted: boolean): Highlight | null {
  const [, arrived] = useState(false)
  useEffect(() => {
    if (!wanted || highlighter) return
    let mounted = true
    void import('./highlighter').then((module) => {
      highlighter = module.highlight
      if (mounted) startTransition(() => arrived(true))
    })
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
}

/** Program text in its language's colours. */
export const Code = memo(function Code({
  text,
  language,
  label = 'Code',
  firstLine = null,
  copy = true,
}: Props) {
  const shown = useMemo(() => visible(text), [text])
  const wanted = language !== '' && shown.length <= MOST_CHARACTERS && !longLine(shown)
  const highlighting = useHighlighter(wanted)
  const html = useMemo(
    () => (wanted && highlighting ? highlighting(shown, language) : null),
    [wanted, highlighting, shown, language],
  )
  return (
    <div className="code">
      {copy && (
        <div className="corner">
          <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
        </div>
      )}
      <section className="scroll" tabIndex={0} aria-label={label}>
        {firstLine !== null && <LineNumbers first={firstLine} count={shown.split('\n').length} />}
        <pre>
          {html === null ? (
            <code>{shown}</code>
          ) : (
            // biome-ignore lint/security/noDangerouslySetInnerHtml: highlight.js escapes all of the text.
            <code dangerouslySetInnerHTML={{ __html: html }} />
          )}
        </pre>
      </section>
    </div>
  )
})

function LineNumbers({ first, count }: { first: number; count: number }) {
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

function longLine(text: string): boolean {
  for (let start = 0; ; ) {
    const end = text.indexOf('\n', start)
    if ((end < 0 ? text.length : end) - start > MOST_LINE) return true
    if (end < 0) return false
    start = end + 1
  }
}
