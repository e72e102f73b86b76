import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { isExact } from '../interface/exactJson'
import { visible } from '../interface/visible'

const SHOWN = 100
const SHOWN_CHARACTERS = 2_000
/** Deeper ones are folded at first. */
const OPEN_DEPTH = 2
/** Levels are not indented further than this. */
const MOST_INDENT = 12

/** Folded objects of so many values and characters are shown all the same. */
const MOST_IN_LINE = 8
const MOST_IN_LINE_CHARACTERS = 240

interface Props {
  value: unknown
  name?: string
  depth?: number
}

/** Any JSON value, folded where it is deep. */
export function JsonTree({ value, name, depth = 0 }: Props) {
  if (value === null || typeof value !== 'object' || isExact(value)) {
    return (
      <div className="json leaf">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch value={value} name={name} depth={depth} />
}

function Branch({ value, name, depth }: { value: object; name: string | undefined; depth: number }) {
  const isArray = Array.isArray(value)
  const entries = isArray ? value : Object.entries(value)
  const [open, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= SHOWN)
  const [shown, setShown] = useState(SHOWN)
  const summary = (!open && inOneLine(value)) || (isArray ? `[${entries.length}]` : `{${entries.length}}`)
  if (!entries.length) {
    return (
      <div className="json leaf">
        <Name name={name} />
        {isArray ? '[]' : '{}'}
      </div>
    )
  }
  return (
    <div className={depth < MOST_INDENT ? 'json' : 'json deep'}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={12} aria-hidden />
        <Name name={name} />
        <span className="summary">{summary}</span>
      </button>
      {open && (
        <div className="children">
          {entries.slice(0, shown).map((entry, index) => {
            const [key, child] = isArray ? [String(index), entry] : (entry as [string, unknown])
            return <JsonTree key={key} name={key} value={child} depth={depth + 1} />
          })}
          {shown < entries.length && (
            <button type="button" className="more" onClick={() => setShown(shown + SHOWN * 5)}>
              Show more of {entries.length}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** A small object of texts and numbers as one line; null where it takes more. */
function inOneLine(value: object): string | null {
  const entries = Object.entries(value)
  if (Array.isArray(value) || entries.length > MOST_IN_LINE) return null
  const parts: string[] = []
  for (const [name, one] of entries) {
    if (isExact(one)) parts.push(`${name}: ${one.rawJSON}`)
    else if (one !== null && typeof one === 'object') return null
    else if (typeof one === 'string' && one.length > MOST_IN_LINE_CHARACTERS) return null
    else parts.push(`${name}: ${JSON.stringify(one)}`)
  }
  const line = `{${parts.join(', ')}}`
  return line.length > MOST_IN_LINE_CHARACTERS ? null : visible(line)
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return (
    <>
      <span className="name">{visible(name)}</span>
      <span className="colon">: </span>
    </>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [all, setAll] = useState(false)
  if (isExact(value)) return <span className="number">{value.rawJSON}</span>
  if (typeof value !== 'string')
    return <span className={value === null ? 'null' : typeof value}>{String(value)}</span>
  const long = value.length > SHOWN_CHARACTERS && !all
  return (
    <span className="string">
      {visible(long ? value.slice(0, SHOWN_CHARACTERS) : value)}
      {long && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show all {value.length} characters
        </button>
      )}
    </span>
  )
}
