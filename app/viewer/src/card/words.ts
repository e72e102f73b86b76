/** What is said of a call: its status, and whether what is stored is all there was. */
import type { ToolCall } from '../graphql/documents'

export const STATUS: Record<ToolCall['status'], string> = {
  PENDING: 'pending',
  IN_PROGRESS: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
}

/** In words where a content is not all that the tool returned; null where it is. */
export function stateInWords(call: ToolCall): string | null {
  if (call.status === 'PENDING') return 'Pending: the call has not begun, so there is no output yet.'
  switch (call.contentState) {
    case 'CUT_BY_AGENT':
      return 'The agent had cut this output before it was recorded. The rest is not known.'
    case 'MISSING':
      return 'The agent kept this output in a file that was not there when the session was imported.'
    case 'NONE_RECORDED':
      return call.status === 'IN_PROGRESS'
        ? 'Still running: no output yet.'
        : 'No result was recorded for this call.'
    default:
      return null
  }
}

/** The same in two words, for the closed card. */
export function stateInShort(call: ToolCall): string | null {
  if (call.contentState === 'CUT_BY_AGENT') return 'cut by the agent'
  if (call.contentState === 'MISSING') return 'output missing'
  if (call.contentState === 'NONE_RECORDED' && call.status !== 'PENDING' && call.status !== 'IN_PROGRESS') {
    return 'no result recorded'
  }
  return null
}
