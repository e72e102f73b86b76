import { diffWordsWithSpace } from 'diff'
import { Fragment, memo, useMemo, useState, useSyncExternalStore } from 'react'
import { CopyButton } from '../interface/CopyButton'
import { visible } from '../interface/visible'
import { type Change, onlyEndingChanged, type Row, sideBySide } from './changes'

const wide = typeof matchMedia === 'function' ? matchMedia('(min-width: 1100px)') : null
const watchWidth = (listener: () => void) => {
  wide?.addEventListener('change', listener)
  return () => wide?.removeEventListener('change', listener)
}
/** More rows come when asked for. */
const ROWS = 400
/** Longer lines are not compared word by word. */
const MOST_LINE = 1_000

/** One file's changes: side by side where there is room, else one below the other. */
export const Diff = memo(function Diff({ change, copy }: { change: Change; copy: string }) {
  const roomy = useSyncExternalStore(watchWidth, () => wide?.matches ?? false)
  const [limit, setLimit] = useState(ROWS)
  const total = change.hunks.reduce((sum, hunk) => sum + hunk.length, 0)
  const endings = useMemo(() => {
    const changed = change.hunks.flat().filter((row) => row.kind !== ' ')
    return changed.length > 0 && changed.every(onlyEndingChanged)
  }, [change])
  let left = limit
  const hunks = change.hunks.flatMap((hunk) => {
    const part = hunk.slice(0, left)
    left -= part.length
    return part.length ? [part] : []
  })
  const both = roomy && change.added > 0 && change.removed > 0
  const numbered = change.hunks[0]?.some((row) => row.before !== null || row.after !== null) ?? false
  return (
    <figure className="diff">
      <figcaption>
        <span className="path">{visible(change.path)}</span>
        <span className="added">
          +{change.added}
          <span className="unseen"> lines added,</span>
        </span>
        <span className="removed">
          −{change.removed}
          <span className="unseen"> removed</span>
        </span>
        <CopyButton text={copy} label="Copy the new text" />
      </figcaption>
      <section className="scroll" tabIndex={0} aria-label={`Changes of ${visible(change.path)}`}>
        {total === 0 && <p className="note">No lines changed.</p>}
        {endings && <p className="note">Only the ends of lines changed.</p>}
        <table className={both ? 'both' : undefined}>
          {both && <Columns numbered={numbered} />}
          {hunks.map((rows, index) => (
            <tbody key={index}>
              {both ? <Both rows={rows} numbered={numbered} /> : <One rows={rows} numbered={numbered} />}
            </tbody>
          ))}
        </table>
      </section>
      {limit < total && (
        <button type="button" className="more" onClick={() => setLimit(limit + ROWS * 2)}>
          Show more of {total} lines
        </button>
      )}
    </figure>
  )
})

interface Hunk {
  rows: Row[]
  /** Whether it is known where in the file the lines are. */
  numbered: boolean
}

function One({ rows, numbered }: Hunk) {
  return rows.map((row, index) => (
    <tr key={index} className={CLASS[row.kind]}>
      {numbered && <td className="number">{row.before}</td>}
      {numbered && <td className="number">{row.after}</td>}
      <Sign row={row} />
      <Line row={row} />
    </tr>
  ))
}

function Both({ rows, numbered }: Hunk) {
  return sideBySide(rows).map(([before, after], index) => (
    <tr key={index}>
      <Side row={before} number={numbered ? (before?.before ?? null) : undefined} />
      <Side row={after} number={numbered ? (after?.after ?? null) : undefined} />
    </tr>
  ))
}

/** Said once, as the first row may lack a side. */
function Columns({ numbered }: { numbered: boolean }) {
  const side = (key: string) => (
    <Fragment key={key}>
      {numbered && <col className="number" />}
      <col className="sign" />
      <col />
    </Fragment>
  )
  return <colgroup>{['before', 'after'].map(side)}</colgroup>
}

function Side({ row, number }: { row: Row | null; number: number | null | undefined }) {
  const numbered = number !== undefined
  if (!row) return <td colSpan={numbered ? 3 : 2} className="blank" />
  return (
    <>
      {numbered && <td className={`number ${CLASS[row.kind]}`}>{number}</td>}
      <Sign row={row} />
      <Line row={row} />
    </>
  )
}

const CLASS = { ' ': 'same', '+': 'added', '-': 'removed' }
const SPOKEN = { ' ': '', '+': 'added: ', '-': 'removed: ' }

function Sign({ row }: { row: Row }) {
  return (
    <td className={`sign ${CLASS[row.kind]}`}>
      <span aria-hidden>{row.kind}</span>
      <span className="unseen">{SPOKEN[row.kind]}</span>
    </td>
  )
}

function Line({ row }: { row: Row }) {
  return (
    <td className={`line ${CLASS[row.kind]}`}>
      <Words row={row} />
    </td>
  )
}

function Words({ row }: { row: Row }) {
  const { text, pair, kind } = row
  const parts = useMemo(() => {
    if (onlyEndingChanged(row)) return null
    if (pair === null || text.length > MOST_LINE || pair.length > MOST_LINE) return null
    const changes = kind === '-' ? diffWordsWithSpace(text, pair) : diffWordsWithSpace(pair, text)
    return changes.filter((part) => (kind === '-' ? !part.added : !part.removed))
  }, [row, text, pair, kind])
  if (!parts) {
    return (
      <>
        {visible(text)}
        {onlyEndingChanged(row) && text.endsWith('\r') && <mark>␍</mark>}
      </>
    )
  }
  return parts.map((part, index) => {
    const shown = visible(part.value)
    return part.added || part.removed ? <mark key={index}>{shown}</mark> : <span key={index}>{shown}</span>
  })
}
