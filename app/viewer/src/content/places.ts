/** Where in its file a diff block's text begins: known of some agents alone, as the protocol does not say it. */
import type { Block, ToolCall } from '../graphql/documents'

/** The numbers of the first line of the old and of the new text. */
export interface Start {
  before: number
  after: number
}

/** Their locations tell where each part of a patch begins in the new file; the parts have lines of context. */
const TELLS_PARTS = /^claude-code$|^@agentclientprotocol\/claude-agent-acp$|^sample-agent$/
/** Its texts are whole files. */
const GIVES_FILES = /^gemini-cli$/
const CONTEXT = 3

/** One for each block; null where it is no diff, or where its lines are is not certain. */
export function starts(
  blocks: readonly Block[],
  locations: ToolCall['locations'],
  agent: string,
): (Start | null)[] {
  const next = new Map<string, { place: number; shift: number }>()
  return blocks.map((block) => {
    if (block.__typename !== 'DiffBlock') return null
    const { path, oldText, newText } = block
    if (oldText === null || GIVES_FILES.test(agent)) return { before: 1, after: 1 }
    if (!TELLS_PARTS.test(agent)) return null
    const lines = locations.flatMap((one) => (one.path === path && one.line !== null ? [one.line] : []))
    const parts = blocks.filter((one) => one.__typename === 'DiffBlock' && one.path === path)
    const { place, shift } = next.get(path) ?? { place: 0, shift: 0 }
    next.set(path, { place: place + 1, shift: shift + count(newText) - count(oldText) })
    const line = lines[place]
    if (line === undefined || lines.length !== parts.length) return null
    // What does not begin with its context is not a part of a patch.
    if (line > 1 && sameAtStart(oldText, newText) < CONTEXT) return null
    return { before: line - shift, after: line }
  })
}

function count(text: string): number {
  return text.split('\n').length
}

function sameAtStart(old: string, now: string): number {
  const [before, after] = [old.split('\n', CONTEXT), now.split('\n', CONTEXT)]
  const differing = before.findIndex((line, index) => line !== after[index])
  return differing < 0 ? before.length : differing
}
