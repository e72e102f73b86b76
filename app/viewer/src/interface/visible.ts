/** Text from outside, made harmless to read: what would reorder or hide it is shown by its name. */

/** Controls, what changes the direction of text or has no width, and signs that no font draws. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** Letters of scripts, such as Arabic and Devanagari, whose letters join or are kept from it. */
const JOINED = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\p{L}\p{M}]$/u
const PICTURE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u
/** Flags of regions are made of invisible letters. */
const FLAG = /\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{1,6}\u{e007f}$/u

/** Show characters that cannot be seen as `␛` or `⟨U+202E⟩`; a line may end with a carriage return. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character, place: number) => {
    const code = character.codePointAt(0) as number
    const after = text.slice(place + character.length, place + character.length + 12)
    if (code === 0x0d && (after === '' || after.startsWith('\n'))) return ''
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    if (code >= 0x200c && joins(code, text.slice(Math.max(0, place - 16), place), after)) return character
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

/** Whether a character that cannot be seen forms what is beside it: a picture, or the letters of some scripts. */
function joins(code: number, before: string, after: string): boolean {
  if (code === 0x200d && PICTURE.test(before)) {
    return /^\p{Extended_Pictographic}/u.test(after)
  }
  if (code === 0x200c || code === 0x200d) return JOINED.test(before)
  if (code === 0xfe0e || code === 0xfe0f) return /[\p{Emoji}\p{Extended_Pictographic}]$/u.test(before)
  if (code < 0xe0020 || code > 0xe007f) return false
  const flag = `${before}${String.fromCodePoint(code)}${after}`
  const end = flag.indexOf('\u{e007f}', before.length) + 2
  return end >= 2 && FLAG.test(flag.slice(0, end))
}

/** A line of Markdown that says nothing: where code begins, or a title without words. */
const MARKS = /^(?:`{3,}|~{3,})[\w+-]*$|^[*_#]+$/

/** The first line that says anything, as it ended after carriage returns, of one line's length. */
export function firstLine(text: string, characters = 200): string {
  const lines = text.split('\n').flatMap((one) => one.trim() || [])
  const line = lines.find((one) => !MARKS.test(one)) ?? ''
  return visible(withoutEscapes(line.slice(line.lastIndexOf('\r') + 1))).slice(0, characters)
}

/** Take out terminal sequences: colours, cursor, titles, links. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, '')
}

// Operating system commands (titles, links), device strings, control sequences, two-character escapes. Commands and strings
// end with their line at the latest: where a program was ended inside of one, the rest is to be seen. No title is longer.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  /\u001b\][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\|(?=[\u001b\n])|$)|\u001b[PX^_][^\u001b\n]{0,4096}(?:\u001b\\|(?=[\u001b\n])|$)|\u001b\[[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g

/** Take out all terminal sequences but colours. */
export function withoutMovements(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  return text.replace(ESCAPES, (sequence) => (/^\u001b\[[0-9;:]*m$/.test(sequence) ? sequence : ''))
}
