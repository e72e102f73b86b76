import Anser, { type AnserJsonEntry } from 'anser'
import { memo, useMemo, useState } from 'react'
import { CopyButton } from '../interface/CopyButton'
import { visible, withoutEscapes, withoutMovements } from '../interface/visible'

/** So many lines are laid out together, and skipped while they are out of sight. */
const CHUNK = 100

interface Props {
  text: string
  label?: string
}

/** What a terminal printed: colours kept, movements of the cursor left out, overwritten lines as they ended. */
export const Terminal = memo(function Terminal({ text, label = 'Terminal output' }: Props) {
  const [raw, setRaw] = useState(false)
  const chunks = useMemo(() => (raw ? [] : parse(text)), [text, raw])
  const special = useMemo(() => text.includes('\u001b') || /\r(?!\n)/.test(text), [text])
  return (
    <div className="code terminal">
      <div className="corner">
        {special && (
          <button type="button" className="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            Raw
          </button>
        )}
        <CopyButton text={() => withoutEscapes(text)} label="Copy output" />
      </div>
      <section className="scroll" tabIndex={0} aria-label={label}>
        {raw ? (
          <pre>{visible(text.replaceAll('\r', '␍'))}</pre>
        ) : (
          chunks.map((chunk, index) => (
            <pre
              key={index}
              className="chunk"
              style={{ containIntrinsicBlockSize: `${chunk.lines * 1.5}em` }}
            >
              {chunk.parts.map(span)}
            </pre>
          ))
        )}
      </section>
    </div>
  )
})

interface Chunk {
  lines: number
  parts: AnserJsonEntry[]
}

function parse(text: string): Chunk[] {
  const lines = withoutMovements(text.replaceAll('\r\n', '\n')).split('\n').map(overwritten)
  const anser = new Anser()
  const chunks: Chunk[] = []
  for (let start = 0; start < lines.length; start += CHUNK) {
    const part = lines.slice(start, start + CHUNK)
    const parts = anser.ansiToJson(part.join('\n'), { use_classes: true, remove_empty: true })
    chunks.push({ lines: part.length, parts })
  }
  return chunks
}

/** A line as it ended, after carriage returns; the colours that were set before hold on. */
function overwritten(line: string): string {
  const last = line.replace(/\r+$/, '')
  const start = last.lastIndexOf('\r')
  if (start < 0) return last
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  return (last.slice(0, start).match(/\u001b\[[0-9;:]*m/g) ?? []).join('') + last.slice(start + 1)
}

function span(part: AnserJsonEntry, index: number) {
  const classes = [
    part.fg && !isColour(part.fg) && part.fg,
    part.bg && !isColour(part.bg) && `on-${part.bg}`,
    ...(part.decorations ?? []).map((decoration) => `ansi-${decoration}`),
  ].filter(Boolean)
  const colour = rgb(part.fg, part.fg_truecolor)
  const background = rgb(part.bg, part.bg_truecolor)
  const text = visible(part.content)
  if (!classes.length && !colour && !background) return text
  return (
    <span
      key={index}
      className={classes.join(' ') || undefined}
      style={{ color: colour, backgroundColor: background }}
    >
      {text}
    </span>
  )
}

function isColour(name: string): boolean {
  return name === 'ansi-truecolor' || name.startsWith('ansi-palette-')
}

function rgb(name: string | null, truecolor: string | null): string | undefined {
  if (name === 'ansi-truecolor') return truecolor ? `rgb(${truecolor})` : undefined
  const number = /^ansi-palette-(\d+)$/.exec(name ?? '')?.[1]
  return number ? palette(Number(number)) : undefined
}

/** The xterm palette's colours 16 to 255. */
function palette(number: number): string {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10
    return `rgb(${grey},${grey},${grey})`
  }
  const steps = [0, 95, 135, 175, 215, 255]
  const place = number - 16
  return `rgb(${steps[Math.floor(place / 36)]},${steps[Math.floor(place / 6) % 6]},${steps[place % 6]})`
}
