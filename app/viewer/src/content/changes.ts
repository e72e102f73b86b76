/** Changes of a file as rows: by line, with their numbers, and pairs of lines that changed into each other. */
import { parsePatch, type StructuredPatch, type StructuredPatchHunk, structuredPatch } from 'diff'

export interface Row {
  kind: ' ' | '+' | '-'
  text: string
  before: number | null
  after: number | null
  /** The line that it was changed from or into. */
  pair: string | null
}

export interface Change {
  path: string
  added: number
  removed: number
  hunks: Row[][]
}

/** Comparing takes time that grows with the difference: beyond it, all of the old, then all of the new. */
const LONGEST_COMPARISON_MS = 100

export function compare(path: string, before: string | null, after: string): Change {
  const patch = structuredPatch(path, path, before ?? '', after, '', '', {
    context: 3,
    timeout: LONGEST_COMPARISON_MS,
  })
  const hunks = patch ? patch.hunks.map(rowsOf) : [[...whole('-', before ?? ''), ...whole('+', after)]]
  return change(path, hunks)
}

/** The changes in a unified diff; empty where it is none. */
export function parse(text: string): Change[] {
  let patches: StructuredPatch[]
  try {
    patches = parsePatch(text)
  } catch {
    return []
  }
  return patches
    .filter((patch) => patch.hunks.length)
    .map((patch) => {
      const name = patch.newFileName === '/dev/null' ? patch.oldFileName : patch.newFileName
      return change((name ?? '').replace(/^[ab]\//, ''), patch.hunks.map(rowsOf))
    })
}

/** Whether a text looks like a unified diff. */
export function isDiff(text: string): boolean {
  return /^(diff --git |--- \S.*\n\+\+\+ |Index: )/m.test(text.slice(0, 2000)) && /^@@ /m.test(text)
}

function change(path: string, hunks: Row[][]): Change {
  const rows = hunks.flat()
  const count = (kind: Row['kind']) => rows.filter((row) => row.kind === kind).length
  return { path, added: count('+'), removed: count('-'), hunks }
}

function whole(kind: '+' | '-', text: string): Row[] {
  if (!text) return []
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => ({
      kind,
      text: line,
      before: kind === '-' ? index + 1 : null,
      after: kind === '+' ? index + 1 : null,
      pair: null,
    }))
}

function rowsOf(hunk: StructuredPatchHunk): Row[] {
  let before = hunk.oldStart
  let after = hunk.newStart
  const rows: Row[] = []
  for (const line of hunk.lines) {
    const text = line.slice(1)
    if (line[0] === '-') rows.push({ kind: '-', text, before: before++, after: null, pair: null })
    else if (line[0] === '+') rows.push({ kind: '+', text, before: null, after: after++, pair: null })
    else if (line[0] === ' ') rows.push({ kind: ' ', text, before: before++, after: after++, pair: null })
  }
  pair(rows)
  return rows
}

/** Pair removed lines with as many added ones that follow them, one by one. */
function pair(rows: Row[]): void {
  for (let start = 0; start < rows.length; ) {
    let middle = start
    while (rows[middle]?.kind === '-') middle++
    let end = middle
    while (rows[end]?.kind === '+') end++
    if (middle - start === end - middle) {
      for (let index = start; index < middle; index++) {
        const [old, now] = [rows[index], rows[index + middle - start]]
        if (old && now) [old.pair, now.pair] = [now.text, old.text]
      }
    }
    start = Math.max(end, start + 1)
  }
}

/** Whether a line differs from the one it is paired with by how it ends alone: by a carriage return. */
export function onlyEndingChanged({ text, pair }: Row): boolean {
  return pair !== null && pair !== text && pair.replace(/\r$/, '') === text.replace(/\r$/, '')
}

/** The rows of a hunk side by side: what was beside what is. */
export function sideBySide(rows: readonly Row[]): [Row | null, Row | null][] {
  const pairs: [Row | null, Row | null][] = []
  for (let start = 0; start < rows.length; ) {
    const row = rows[start] as Row
    if (row.kind === ' ') {
      pairs.push([row, row])
      start++
      continue
    }
    const removed: Row[] = []
    const added: Row[] = []
    while (rows[start]?.kind === '-') removed.push(rows[start++] as Row)
    while (rows[start]?.kind === '+') added.push(rows[start++] as Row)
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      pairs.push([removed[index] ?? null, added[index] ?? null])
    }
  }
  return pairs
}
