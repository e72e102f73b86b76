/** Text from outside, made harmless to read: what would reorder or hide it is shown by its name. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Show control characters and bidirectional controls as `␛` or `⟨U+202E⟩`; a line may end with a carriage return. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character, place: number) => {
    const code = character.charCodeAt(0)
    if (code === 0x0d && (place === text.length - 1 || text.charAt(place + 1) === '\n')) return ''
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

/** The first line that holds anything, as it ended after carriage returns, of one line's length. */
export function firstLine(text: string, characters = 200): string {
  const line = (text.split('\n').find((one) => one.trim()) ?? '').trim()
  return visible(withoutEscapes(line.slice(line.lastIndexOf('\r') + 1))).slice(0, characters)
}

/** Take out terminal sequences: colours, cursor, titles, links. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, '')
}

// Operating system commands (titles, links), device strings, control sequences, two-character escapes.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b\[[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g

/** Take out all terminal sequences but colours. */
export function withoutMovements(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  return text.replace(ESCAPES, (sequence) => (/^\u001b\[[0-9;:]*m$/.test(sequence) ? sequence : ''))
}
