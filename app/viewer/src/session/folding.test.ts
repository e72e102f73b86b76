import { expect, test } from 'vitest'
import type { Message } from '../graphql/documents'
import { toolMessage } from '../testing/messages'
import { describe, fold } from './folding'

function reads(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => ({
    ...toolMessage({ kind: index % 2 ? 'SEARCH' : 'READ', status: 'COMPLETED' }),
    sequence: index + 1,
    content: null,
  }))
}

test.each([
  [2, []],
  [3, ['Read 2 files, searched 1 time']],
  [12, ['Read 6 files, searched 6 times']],
  [
    30,
    ['Read 6 files, searched 6 times', 'Read 6 files, searched 6 times', 'Read 3 files, searched 3 times'],
  ],
])('%i finished reads and searches fold by twelves at most', (count, lines) => {
  const folds = fold(reads(count))
  expect([...new Set(folds.values())].map(describe)).toEqual(lines)
})
