/** A long text in Markdown as pieces that can be read one by one: reading takes time that grows with the square of a length. */

/** A piece ends where a paragraph does, after so many characters. */
const ENOUGH = 2_000
/** At the end of a line it ends anyhow. */
const MOST = 6_000
/** It ends after so many blocks of code too, each of which takes as long to draw as a page of words. */
export const BLOCKS = 50

/** Cut a text; put together, the pieces are the text. */
export function pieces(text: string): string[] {
  if (text.length <= ENOUGH) return [text]
  const found: string[] = []
  let start = 0
  let fence: string | null = null
  let blank = false
  let blocks = 0
  for (let line = 0; line < text.length; ) {
    const end = text.indexOf('\n', line) + 1 || text.length
    const length = line - start
    const outside = /\S/.test(text.charAt(line))
    const isEnough = outside && ((blank && length >= ENOUGH) || blocks >= BLOCKS)
    if (!fence && length && (isEnough || end - start > MOST)) {
      found.push(text.slice(start, line))
      start = line
      blocks = 0
    }
    const content = text.slice(line, Math.min(end, line + 200))
    const next = fenceAfter(fence, content)
    if (fence && !next) blocks++
    fence = next
    blank = !content.trim()
    line = end
  }
  return [...found, text.slice(start)]
}

/** The fence of the code that goes on after a line; null where there is none. */
function fenceAfter(fence: string | null, line: string): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})([^`\n]*)/.exec(line)
  if (!mark) return fence
  const [, own = '', info = ''] = mark
  if (fence === null) return own
  return own.startsWith(fence) && !info.trim() ? null : fence
}

/** Where the names that links are called by lead to, in all of a text: `[name]: address`. */
export function definitions(text: string): Record<string, { href: string; title: undefined }> {
  const found: Record<string, { href: string; title: undefined }> = Object.create(null)
  for (const [, name = '', href = ''] of text.matchAll(/^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?([^\s>]+)/gm)) {
    found[name.toLowerCase().replace(/\s+/g, ' ')] ??= { href, title: undefined }
  }
  return found
}
