import Anser, { type AnserJsonEntry } from 'anser'
import { memo, startTransition, useEffect, useMemo, useRef, useState } from 'react'
import { CopyButton } from '../interface/CopyButton'
import { visible, withoutEscapes, withoutMovements } from '../interface/visible'
import { type Colour, readable } from './contrast'
import { joined, LineNumbers, type Part } from './Parts'

/** So many lines are laid out together, and skipped while they are out of sight. */
const CHUNK = 100
/** So many chunks are drawn at once; the others follow without keeping the page from anything else. */
const AT_ONCE = 3
/** Of the terminal in style/content.css: its text, and its ground where that is lightest. */
const TEXT: Colour = [0xe6, 0xe5, 0xe0]
const GROUND: Colour = [0x24, 0x24, 0x2a]

interface Props {
  text: string
  label?: string
}

/** What a terminal printed: colours kept, movements of the cursor left out, overwritten lines as they ended. */
export const Terminal = memo(function Terminal({ text, label }: Props) {
  const parts = useMemo(() => [{ text, firstLine: null }], [text])
  return <TerminalParts parts={parts} label={label} />
})

/** The same of a text that comes part by part, of which each goes on where the one before it ended. */
export function TerminalParts({
  parts,
  label = 'Terminal output',
  copyLabel = 'Copy output',
}: {
  parts: readonly Part[]
  label?: string
  copyLabel?: string
}) {
  const [raw, setRaw] = useState(false)
  const [isPressed, press] = useState(false)
  const chunks = useChunks(parts)
  const rawChunks = useMemo(() => (raw ? parts.flatMap(rawOf) : []), [raw, parts])
  const [drawn, setDrawn] = useState(AT_ONCE)
  useEffect(() => startTransition(() => setDrawn(chunks.length)), [chunks])
  const special = useMemo(
    () => parts.some(({ text }) => text.includes('\u001b') || /\r(?!\n)/.test(text)),
    [parts],
  )
  return (
    <div className="code terminal">
      <div className="corner" data-label={label}>
        {special && (
          <button
            type="button"
            className="quiet"
            aria-pressed={isPressed}
            onClick={() => {
              press(!isPressed)
              // However long it is, nothing else waits for it.
              startTransition(() => setRaw(!isPressed))
            }}
          >
            Raw
          </button>
        )}
        <CopyButton text={() => withoutEscapes(joined(parts))} label={copyLabel} />
      </div>
      <section className="scroll" tabIndex={0} aria-label={label}>
        {raw
          ? rawChunks.map((chunk, index) => <RawLines key={`raw ${index}`} {...chunk} />)
          : chunks.slice(0, drawn).map((chunk, index) => <Lines key={index} {...chunk} />)}
      </section>
    </div>
  )
}

interface Chunk {
  /** The lines, behind the colours that were set before them. */
  text: string
  count: number
  firstLine: number | null
}

const Lines = memo(function Lines({ text, count, firstLine }: Chunk) {
  const parts = useMemo(() => new Anser().ansiToJson(text, { use_classes: true, remove_empty: true }), [text])
  return (
    <div className="chunk" style={{ containIntrinsicBlockSize: `auto ${count * 1.5}em` }}>
      {firstLine !== null && <LineNumbers first={firstLine} count={count} />}
      <pre>{parts.map(span)}</pre>
    </div>
  )
})

/** Lines as they were printed, with what cannot be seen by its names. */
const RawLines = memo(function RawLines({ text, count }: Chunk) {
  const shown = useMemo(() => visible(text.replaceAll('\r', '␍')), [text])
  return (
    <div className="chunk" style={{ containIntrinsicBlockSize: `auto ${count * 1.5}em` }}>
      <pre>{shown}</pre>
    </div>
  )
})

function rawOf({ text }: Part): Chunk[] {
  const lines = text.split('\n')
  return Array.from({ length: Math.ceil(lines.length / CHUNK) }, (_, index) => {
    const some = lines.slice(index * CHUNK, (index + 1) * CHUNK)
    return { text: some.join('\n'), count: some.length, firstLine: null }
  })
}

interface Split {
  part: Part
  chunks: Chunk[]
  colours: string
}

/** The chunks of all parts; what has been split before is not split again when more comes. */
function useChunks(parts: readonly Part[]): Chunk[] {
  const known = useRef<readonly Split[]>([])
  return useMemo(() => {
    const splits: Split[] = []
    for (const [index, part] of parts.entries()) {
      const before = known.current[index]
      splits.push(before?.part === part ? before : split(part, splits[index - 1]?.colours ?? ''))
    }
    known.current = splits
    return splits.flatMap((one) => one.chunks)
  }, [parts])
}

function split(part: Part, before: string): Split {
  const lines = withoutMovements(part.text.replaceAll('\r\n', '\n')).split('\n').map(overwritten)
  const chunks: Chunk[] = []
  let colours = before
  for (let start = 0; start < lines.length; start += CHUNK) {
    const some = lines.slice(start, start + CHUNK)
    const text = colours + some.join('\n')
    chunks.push({
      text,
      count: some.length,
      firstLine: part.firstLine === null ? null : part.firstLine + start,
    })
    colours = coloursAfter(text)
  }
  return { part, chunks, colours }
}

/** What is set at the end of a text: its colour sequences since the last that resets them all. */
function coloursAfter(text: string): string {
  const sequences = text.match(COLOURS) ?? []
  return sequences.slice(sequences.findLastIndex((one) => RESET.test(one)) + 1).join('')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const COLOURS = /\u001b\[[0-9;:]*m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const RESET = /^\u001b\[0?m$/

/** A line as it ended, after carriage returns; the colours that were set before hold on. */
function overwritten(line: string): string {
  const last = line.replace(/\r+$/, '')
  const start = last.lastIndexOf('\r')
  if (start < 0) return last
  return (last.slice(0, start).match(COLOURS) ?? []).join('') + last.slice(start + 1)
}

function span(part: AnserJsonEntry, index: number) {
  const classes = [
    part.fg && !isColour(part.fg) && part.fg,
    part.bg && !isColour(part.bg) && `on-${part.bg}`,
    ...(part.decorations ?? []).map((decoration) => `ansi-${decoration}`),
  ].filter(Boolean)
  const background = rgb(part.bg, part.bg_truecolor)
  // Grounds that have a name bring the colour of their text.
  const named = part.decorations?.includes('reverse') || (part.bg && !background)
  const own = named ? undefined : (rgb(part.fg, part.fg_truecolor) ?? (background && TEXT))
  const colour = own && readable(own, background ?? GROUND)
  const text = visible(part.content)
  if (!classes.length && !colour && !background) return text
  return (
    <span
      key={index}
      className={classes.join(' ') || undefined}
      style={{ color: css(colour), backgroundColor: css(background) }}
    >
      {text}
    </span>
  )
}

function isColour(name: string): boolean {
  return name === 'ansi-truecolor' || name.startsWith('ansi-palette-')
}

function css(colour: Colour | undefined): string | undefined {
  return colour && `rgb(${colour.join(',')})`
}

function rgb(name: string | null, truecolor: string | null): Colour | undefined {
  if (name === 'ansi-truecolor') {
    const [red = 0, green = 0, blue = 0] = truecolor?.split(',').map(Number) ?? []
    return [red, green, blue]
  }
  const number = /^ansi-palette-(\d+)$/.exec(name ?? '')?.[1]
  return number ? palette(Number(number)) : undefined
}

/** The xterm palette's colours 16 to 255. */
function palette(number: number): Colour {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10
    return [grey, grey, grey]
  }
  const steps = [0, 95, 135, 175, 215, 255]
  const place = number - 16
  const step = (index: number) => steps[index] as number
  return [step(Math.floor(place / 36)), step(Math.floor(place / 6) % 6), step(place % 6)]
}
