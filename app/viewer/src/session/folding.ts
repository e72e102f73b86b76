/** Which consecutive calls fold into one line. */
import type { Message } from '../graphql/documents'

const LEAST = 3
/** So that a folded line never hides more rows than the list may hold. */
const MOST = 12

/** The messages of a folded line, by the sequence of each; the first is its head. */
export type Folds = ReadonlyMap<number, readonly Message[]>

/** Fold runs of finished reads and searches; a page's folds depend on that page alone, so they never move. */
export function fold(page: readonly (Message | undefined)[]): Folds {
  const folds = new Map<number, readonly Message[]>()
  let run: Message[] = []
  const close = () => {
    if (run.length >= LEAST) for (const message of run) folds.set(message.sequence, run)
    run = []
  }
  for (const message of page) {
    if (!message || !foldable(message) || run.length === MOST) close()
    if (message && foldable(message)) run.push(message)
  }
  close()
  return folds
}

function foldable({ toolMetadata: call, content }: Message): boolean {
  if (!call || content) return false
  return (call.kind === 'READ' || call.kind === 'SEARCH') && call.status === 'COMPLETED' && !call.childSession
}

/** "Read 4 files, searched 2 times". */
export function describe(run: readonly Message[]): string {
  const reads = run.filter((message) => message.toolMetadata?.kind === 'READ').length
  const searches = run.length - reads
  const parts = []
  if (reads) parts.push(`read ${reads} ${reads === 1 ? 'file' : 'files'}`)
  if (searches) parts.push(`searched ${searches} ${searches === 1 ? 'time' : 'times'}`)
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
