import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Block } from '../graphql/documents'
import { toolCall } from '../testing/messages'
import { Blocks } from './Blocks'
import { compare, type Row, sideBySide } from './changes'
import { starts } from './places'

function diff(oldText: string | null, newText: string, path = 'a.py'): Block {
  return { __typename: 'DiffBlock', path, oldText, newText } as Block
}

const CONTEXT = 'one\ntwo\nthree\n'
const [LONGER, LATER] = [
  diff(`${CONTEXT}old`, `${CONTEXT}new\nmore\nand more`),
  diff(`${CONTEXT}a`, `${CONTEXT}b`),
]
const lines = (...numbers: (number | null)[]) => numbers.map((line) => ({ path: 'a.py', line }))

test('the parts of a patch are where the agent says that they begin, the old ones without what was added before', () => {
  expect(starts([LONGER, LATER], lines(21, 51), 'claude-code')).toEqual([
    { before: 21, after: 21 },
    { before: 49, after: 51 },
  ])
})

test('a new file begins at its first line, and so does a whole one', () => {
  expect(starts([diff(null, 'a')], [], 'any')).toEqual([{ before: 1, after: 1 }])
  expect(starts([diff('a', 'b')], lines(null), 'gemini-cli')).toEqual([{ before: 1, after: 1 }])
})

test.each([
  ['an agent that is not known', [LATER], lines(51), 'another'],
  ['no line', [LATER], lines(null), 'claude-code'],
  ['fewer lines than parts', [LONGER, LATER], lines(21), 'claude-code'],
  ['the line of another file', [LATER], [{ path: 'b.py', line: 3 }], 'claude-code'],
  ['a part without its context', [diff('a', 'b')], lines(51), 'claude-code'],
])('with %s it is not known where a part begins', (_, blocks, locations, agent) => {
  expect(starts(blocks, locations, agent)).toEqual(blocks.map(() => null))
})

test('a diff has the numbers of its file, or none', () => {
  const call = toolCall({ kind: 'EDIT', locations: lines(51) })
  const numbers = (agent: string) => {
    const { container } = render(<Blocks blocks={[LATER]} call={call} command={null} agent={agent} />)
    return [...container.querySelectorAll('td.number')].map((cell) => cell.textContent)
  }
  expect(numbers('claude-code')).toEqual(['51', '51', '52', '52', '53', '53', '54', '', '', '54'])
  expect(numbers('another')).toEqual([])
})

function paired(before: string, after: string): [string, string | null][] {
  const rows: Row[] = compare('a', before, after, null).hunks.flat()
  return rows.filter((row) => row.kind === '-').map((row) => [row.text, row.pair])
}

test('a line is held against the one that it became, whatever was added or removed around it', () => {
  const [old, now] = ['x = compute(alpha, beta)', 'x = compute(alpha, gamma)']
  expect(paired(`${old}\n`, `# note\n${now}\n`)).toEqual([[old, now]])
  expect(paired(`# gone\n${old}\nalso gone\n`, `${now}\n`)).toEqual([
    ['# gone', null],
    [old, now],
    ['also gone', null],
  ])
  expect(paired('# weather\n', '# Weather\n\nIn all stations.\n')).toEqual([['# weather', '# Weather']])
})

test('lines that have nothing in common are no pair, unless each has the place of the other', () => {
  expect(paired('one\n', 'two words\nthree more words\n')).toEqual([['one', null]])
  expect(paired('beta\n', 'gamma\n')).toEqual([['beta', 'gamma']])
})

test('very many lines that changed at once are not compared with each other', () => {
  const many = (word: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('')
  expect(paired(many('old', 300), many('new', 301)).every(([, pair]) => pair === null)).toBe(true)
})

test('side by side, a line stands beside the one that it became', () => {
  const rows = compare('a', 'x = f(a, b)\nend\n', '# note\nx = f(a, c)\nend\n', null).hunks.flat()
  expect(sideBySide(rows).map(([before, after]) => [before?.text, after?.text])).toEqual([
    [undefined, '# note'],
    ['x = f(a, b)', 'x = f(a, c)'],
    ['end', 'end'],
  ])
})

test('a part that goes on after its last line has no change of that line', () => {
  const change = compare('a', 'one\ntwo', 'one\ntwo\nthree', null)
  expect([change.added, change.removed]).toEqual([1, 0])
})
