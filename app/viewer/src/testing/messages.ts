/** Messages as the server would tell them. */
import type { Message, ToolCall } from '../graphql/documents'

export function toolCall(changes: Partial<ToolCall> = {}): ToolCall {
  return {
    id: 'call',
    toolCallId: 'toolu_1',
    name: 'Bash',
    title: 'make test',
    kind: 'EXECUTE',
    status: 'COMPLETED',
    startedAt: '2026-01-01T10:00:00.000Z',
    endedAt: '2026-01-01T10:00:02.500Z',
    locations: [],
    contentSize: 12_345,
    contentHash: 'sha256:1',
    contentState: 'COMPLETE',
    contentPreview: 'first line\nsecond line',
    contentUrl: '/api/projects/default/blobs/sha256:1',
    childSession: null,
    rawInput: null,
    rawOutput: null,
    ...changes,
  }
}

export function message(changes: Partial<Message> = {}): Message {
  return {
    id: `message ${changes.sequence ?? 1}`,
    sequence: 1,
    revision: 1,
    role: 'TOOL',
    origin: null,
    model: null,
    createdAt: '2026-01-01T10:00:00.000Z',
    repaired: false,
    content: '',
    contentSize: 0,
    contentPreview: '',
    attachments: [],
    toolMetadata: null,
    ...changes,
  }
}

let made = 0

/** A message with a tool call that no other test has seen. */
export function toolMessage(call: Partial<ToolCall> = {}): Message & { toolMetadata: ToolCall } {
  made++
  return {
    ...message({ id: `message made ${made}` }),
    toolMetadata: toolCall({ id: `call made ${made}`, ...call }),
  }
}
