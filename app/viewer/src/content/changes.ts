/** Changes of a file as rows: by line, with their numbers, and pairs of lines that changed into each other. */
import { parsePatch, type StructuredPatch, type StructuredPatchHunk, structuredPatch } from 'diff'
import { type Budget, pairs } from './pairs'
import type { Start } from './places'

export interface Row {
  kind: ' ' | '+' | '-'
  text: string
  /** The line's numbers in the old and in the new file, where they are known. */
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
/** So many lines of one file's changes are compared with each other, to tell which became which. */
const MOST_COMPARISONS = 10_000

/** The changes from one text to another, which begin where `start` says; null where that is not known. */
export function compare(path: string, before: string | null, after: string, start: Start | null): Change {
  const patch = structuredPatch(path, path, ...ended(before ?? '', after), '', '', {
    context: 3,
    timeout: LONGEST_COMPARISON_MS,
  })
  const hunks = patch ? patch.hunks.map(rowsOf()) : [[...whole('-', before ?? ''), ...whole('+', after)]]
  return change(
    path,
    hunks.map((rows) => rows.map((row) => placed(row, start))),
  )
}

/** Parts of files end without the end of their last line: that it is the last is no change. */
function ended(before: string, after: string): [string, string] {
  const open = (text: string) => text !== '' && !text.endsWith('\n')
  return open(before) && open(after) ? [`${before}\n`, `${after}\n`] : [before, after]
}

/** A row whose numbers count from the start of a text, with those that its lines have in the file. */
function placed(row: Row, start: Start | null): Row {
  const from = (number: number | null, first: number | undefined) =>
    number === null || first === undefined ? null : number + first - 1
  return { ...row, before: from(row.before, start?.before), after: from(row.after, start?.after) }
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
      return change((name ?? '').replace(/^[ab]\//, ''), patch.hunks.map(rowsOf()))
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

/** Reads the hunks of one file. */
function rowsOf(): (hunk: StructuredPatchHunk) => Row[] {
  const budget = { left: MOST_COMPARISONS }
  return (hunk) => {
    let before = hunk.oldStart
    let after = hunk.newStart
    const rows: Row[] = []
    for (const line of hunk.lines) {
      const text = line.slice(1)
      if (line[0] === '-') rows.push({ kind: '-', text, before: before++, after: null, pair: null })
      else if (line[0] === '+') rows.push({ kind: '+', text, before: null, after: after++, pair: null })
      else if (line[0] === ' ') rows.push({ kind: ' ', text, before: before++, after: after++, pair: null })
    }
    for (const { removed, added } of blocks(rows)) pair(removed, added, budget)
    return rows
  }
}

/** Removed lines with the added ones that follow them; a row that stayed is between two blocks. */
function blocks(rows: readonly Row[]): { removed: Row[]; added: Row[]; same: Row | null }[] {
  const found: { removed: Row[]; added: Row[]; same: Row | null }[] = []
  for (let start = 0; start < rows.length; ) {
    const removed: Row[] = []
    const added: Row[] = []
    while (rows[start]?.kind === '-') removed.push(rows[start++] as Row)
    while (rows[start]?.kind === '+') added.push(rows[start++] as Row)
    const same = rows[start]?.kind === ' ' ? (rows[start++] as Row) : null
    found.push({ removed, added, same })
  }
  return found
}

function pair(removed: readonly Row[], added: readonly Row[], budget: Budget): void {
  const text = (row: Row) => row.text
  for (const [old, now] of pairs(removed.map(text), added.map(text), budget)) {
    const [before, after] = [removed[old] as Row, added[now] as Row]
    before.pair = after.text
    after.pair = before.text
  }
}

/** Whether a line differs from the one it is paired with by how it ends alone: by a carriage return. */
export function onlyEndingChanged({ text, pair }: Row): boolean {
  return pair !== null && pair !== text && pair.replace(/\r$/, '') === text.replace(/\r$/, '')
}

/** The rows of a hunk side by side: what was beside what is, and a line beside the one that it became. */
export function sideBySide(rows: readonly Row[]): [Row | null, Row | null][] {
  const sides: [Row | null, Row | null][] = []
  for (const { removed, added, same } of blocks(rows)) {
    for (let old = 0, now = 0; old < removed.length || now < added.length; ) {
      const [before, after] = [removed[old] ?? null, added[now] ?? null]
      const waits = (one: Row | null, other: Row | null) => one?.pair != null && other?.pair === null
      const left = waits(before, after) ? null : before
      const right = waits(after, before) ? null : after
      if (left) old++
      if (right) now++
      sides.push([left, right])
    }
    if (same) sides.push([same, same])
  }
  return sides
}
