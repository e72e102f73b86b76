import { fireEvent, render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Block } from '../graphql/documents'
import { toolCall } from '../testing/messages'
import { Blocks } from './Blocks'
import { compare, isDiff, parse, sideBySide } from './changes'
import { type Colour, contrast, readable } from './contrast'
import { fenceAround, unfenced, withinFence } from './fence'
import { JsonTree } from './JsonTree'
import { Lines } from './Lines'
import { languageOf } from './languages'
import { Terminal, TerminalParts } from './Terminal'
import { unnumbered } from './Text'

const ESC = '\u001b'

test('a terminal keeps colours and leaves out titles, links, movements and bells', () => {
  const text = `${ESC}]0;a title\u0007${ESC}[2J${ESC}[10;10H${ESC}[31mred${ESC}[0m ${ESC}]8;;https://example.com${ESC}\\link${ESC}]8;;${ESC}\\ end`
  const { container } = render(<Terminal text={text} />)
  expect(container.querySelector('.scroll')?.textContent).toBe('red link end')
  expect(container.querySelector('.ansi-red')?.textContent).toBe('red')
  expect(container.querySelector('a')).toBeNull()
})

test('a colour holds on over many lines, and ends where it is reset', () => {
  const red = Array.from({ length: 450 }, (_, index) => `line ${index}`).join('\n')
  const { container } = render(<Terminal text={`${ESC}[31m${red}${ESC}[0m\nplain`} />)
  const chunks = [...container.querySelectorAll('.chunk')]
  expect(chunks.map((chunk) => chunk.querySelector('.ansi-red')?.textContent?.split('\n').length)).toEqual([
    100, 100, 100, 100, 50,
  ])
  expect(container.querySelector('.scroll')?.textContent?.endsWith('line 449\nplain')).toBe(true)
  expect(chunks.at(-1)?.querySelector('.ansi-red')?.textContent).not.toContain('plain')
})

test('a text that comes part by part keeps its colours and counts its lines', () => {
  const numbered = (first: number, lines: string[]) => ({ firstLine: first, text: lines.join('\n') })
  const first = numbered(1, [...Array.from({ length: 149 }, () => 'plain'), `${ESC}[31mred`])
  const second = numbered(151, ['still red', `and${ESC}[0m plain`])
  const third = numbered(153, ['plain again'])
  const { container, rerender } = render(<TerminalParts parts={[first]} />)
  const kept = [...container.querySelectorAll('.chunk')]
  rerender(<TerminalParts parts={[first, second, third]} />)
  expect([...container.querySelectorAll('.chunk')].slice(0, 2)).toEqual(kept)
  expect(container.querySelectorAll('.scroll')).toHaveLength(1)
  expect([...container.querySelectorAll('.ansi-red')].map((one) => one.textContent)).toEqual([
    'red',
    'still red\nand',
  ])
  const numbers = [...container.querySelectorAll('.numbers')].map((one) => one.textContent).join('\n')
  expect(numbers.split('\n').map(Number)).toEqual(Array.from({ length: 153 }, (_, index) => index + 1))
})

test('a colour that a program chose is changed until it can be read', () => {
  const colours: Colour[] = [0, 64, 128, 192, 255].flatMap((red) =>
    [0, 128, 255].flatMap((green) => [0, 128, 255].map((blue): Colour => [red, green, blue])),
  )
  expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5)
  expect(contrast([255, 255, 255], [0x76, 0x76, 0x76])).toBeCloseTo(4.54, 2)
  for (const ground of colours) {
    for (const colour of colours) {
      expect(contrast(readable(colour, ground), ground)).toBeGreaterThanOrEqual(4.5)
    }
  }
  expect(readable([255, 200, 100], [0x24, 0x24, 0x2a])).toEqual([255, 200, 100])
})

test.each([
  ['38;2;20;20;40', 'rgb(20, 20, 40)'],
  ['38;5;17', 'rgb(0, 0, 95)'],
  ['48;2;250;250;250', ''],
  ['41;38;2;120;30;30', 'rgb(120, 30, 30)'],
])('text in %s is not in a colour that is too dark or too light there', (code, bad) => {
  const { container } = render(<Terminal text={`${ESC}[${code}mwords`} />)
  const span = container.querySelector('.scroll span') as HTMLElement
  expect(span.textContent).toBe('words')
  expect(span.style.color).not.toBe(bad)
})

test('a line that was overwritten is shown as it ended', () => {
  const { container } = render(<Terminal text={'10 %\r50 %\r100 %\r\ndone\r\n'} />)
  expect(container.querySelector('.scroll')?.textContent).toBe('100 %\ndone\n')
})

test('the raw text of a terminal names its control characters', () => {
  const { container } = render(<Terminal text={`a\rb ${ESC}[31mc`} />)
  fireEvent.click(screen.getByRole('button', { name: 'Raw' }))
  expect(container.querySelector('.scroll')?.textContent).toBe('a␍b ␛[31mc')
})

test('bidirectional controls are shown by their names', () => {
  const { container } = render(<Terminal text={'safe \u202edetsurt\u202c'} />)
  expect(container.querySelector('.scroll')?.textContent).toBe('safe ⟨U+202E⟩detsurt⟨U+202C⟩')
})

test('a change has line numbers, counts and pairs of lines', () => {
  const change = compare('a.py', 'one\ntwo\nthree\n', 'one\nTWO\nthree\nfour\n', { before: 1, after: 1 })
  expect([change.added, change.removed]).toEqual([2, 1])
  const rows = change.hunks[0] ?? []
  expect(rows.map((row) => [row.kind, row.before, row.after, row.text])).toEqual([
    [' ', 1, 1, 'one'],
    ['-', 2, null, 'two'],
    ['+', null, 2, 'TWO'],
    [' ', 3, 3, 'three'],
    ['+', null, 4, 'four'],
  ])
  expect(rows[1]?.pair).toBe('TWO')
  expect(sideBySide(rows).map(([before, after]) => [before?.text, after?.text])).toEqual([
    ['one', 'one'],
    ['two', 'TWO'],
    ['three', 'three'],
    [undefined, 'four'],
  ])
})

test('a new file is all added', () => {
  const change = compare('new.py', null, 'a\nb\n', null)
  expect([change.added, change.removed]).toEqual([2, 0])
})

test('a unified diff is read, and a broken one is no diff', () => {
  const text = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
  expect(isDiff(text)).toBe(true)
  expect(parse(text).map((change) => [change.path, change.added, change.removed])).toEqual([['x', 1, 1]])
  expect(parse('--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n')).toEqual([])
})

test('a broken diff in a text is shown as the text that it is', () => {
  const text = '--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\nnot a diff at all'
  const { container } = render(
    <Blocks
      blocks={[{ __typename: 'TextBlock', text }] as Block[]}
      call={toolCall({ kind: 'OTHER' })}
      command={null}
      agent="test"
    />,
  )
  expect(container.textContent).toContain('not a diff at all')
})

type TerminalBlock = Extract<Block, { __typename: 'TerminalBlock' }>
const terminal = (changes: Partial<TerminalBlock>): TerminalBlock => ({
  __typename: 'TerminalBlock',
  terminalId: null,
  command: null,
  exitCode: null,
  output: null,
  ...changes,
})
const printed = { __typename: 'TextBlock', text: 'PASS' } as const
const nothing = { __typename: 'TextBlock', text: '' } as const
const picture = { __typename: 'ImageBlock', mimeType: null, size: null, url: null, sourceUri: null } as const

test.each<[string, Block[], string[]]>([
  ['stands beside its text', [printed, terminal({ exitCode: 0 })], ['Exit code 0: success']],
  ['failed beside its text', [printed, terminal({ exitCode: 2 })], ['Exit code 2']],
  ['stands alone', [terminal({ exitCode: 0 })], ['No output.', 'Exit code 0: success']],
  [
    'stands beside an empty text',
    [nothing, terminal({ exitCode: 0 })],
    ['No output.', 'Exit code 0: success'],
  ],
  ['printed nothing', [terminal({ output: '', exitCode: 1 })], ['No output.', 'Exit code 1']],
  ['printed', [terminal({ terminalId: 't', output: 'PASS', exitCode: 0 })], ['Exit code 0: success']],
  ['has its text beside it', [printed, terminal({ terminalId: 't' })], []],
  ['was named alone', [terminal({ terminalId: 't' })], ['No output was recorded.']],
  [
    'was named beside others',
    [picture, nothing, terminal({ terminalId: 't', exitCode: 0 })],
    ['The picture itself was not recorded.', 'No output.', 'No output was recorded.', 'Exit code 0: success'],
  ],
])('a command that %s says what is known of its output', (_, blocks, words) => {
  const { container } = render(<Blocks blocks={blocks} call={toolCall()} command={null} agent="test" />)
  expect([...container.querySelectorAll('.note')].map((note) => note.textContent)).toEqual(words)
})

test('an address that is no web page is no link', () => {
  const blocks = [
    {
      __typename: 'ResourceLinkBlock',
      uri: 'javascript:alert(1)',
      name: 'x',
      title: null,
      mimeType: null,
      size: null,
      description: null,
    },
  ] as Block[]
  const { container } = render(<Blocks blocks={blocks} call={toolCall()} command={null} agent="test" />)
  expect(container.querySelector('a')).toBeNull()
})

test('deep JSON is folded, and a long list comes in parts', () => {
  let deep: unknown = 'bottom'
  for (let level = 0; level < 900; level++) deep = [deep]
  const { container } = render(
    <JsonTree value={{ deep, long: Array.from({ length: 250 }, (_, index) => index) }} />,
  )
  expect(container.textContent).not.toContain('bottom')
  fireEvent.click(screen.getByRole('button', { name: /long/ }))
  expect(screen.getByRole('button', { name: 'Show more of 250' })).toBeTruthy()
})

test('the language follows from the path', () => {
  expect(['/a/b.py', 'x.TSX', 'Makefile', 'noextension', null].map(languageOf)).toEqual([
    'python',
    'typescript',
    'bash',
    '',
    '',
  ])
})

test('numbers before each line are taken off only where they count up', () => {
  expect(unnumbered('  7→a\n  8→\n  9→c')).toEqual({ first: 7, text: 'a\n\nc' })
  expect(unnumbered('1\ta\n3\tb')).toBeNull()
  expect(unnumbered('no numbers')).toBeNull()
})

test('a folded object of a few short values is shown in its one line', () => {
  const todos = [{ content: 'Fix it', done: false, place: 1 }, { deep: { er: 1 } }, { long: 'x'.repeat(500) }]
  render(<JsonTree value={{ todos }} />)
  const names = screen.getAllByRole('button').map((button) => button.textContent)
  expect(names.slice(2)).toEqual(['0: {content: "Fix it", done: false, place: 1}', '1: {1}', '2: {1}'])
})

test.each([
  ['```console\n$ ls\na\n```', 'EXECUTE', '$ ls\na\n'],
  ['```\n1\tone\n```\n', 'READ', '1\tone\n'],
  ['````\n```\ninner\n```\n````', 'READ', '```\ninner\n```\n'],
  ['```\n```', 'EXECUTE', ''],
  ['```\na\n```\nb\n```', 'EXECUTE', null],
  ['```\na\n```\nwords', 'EXECUTE', null],
  ['```\ncut off', 'EXECUTE', null],
  ['```', 'EXECUTE', null],
  ['```js\na\n```', 'FETCH', null],
] as const)('a fence around all of an output is taken off, and no other: %o', (text, kind, inner) => {
  expect(unfenced(text, toolCall({ kind }))).toBe(inner ?? text)
})

const range = (from: number, lines: string[], isLast = false) => ({
  from,
  lines,
  nextFrom: isLast ? null : from + lines.length,
})

test.each([
  ['its beginning', [range(1, ['```console', 'a', 'b'])], ['a', 'b']],
  ['all of it', [range(1, ['```', 'a']), range(3, ['b', '```', ''], true)], ['a', 'b']],
  ['its end alone in a part', [range(1, ['```', 'a']), range(3, ['```'], true)], ['a']],
  [
    'its beginning and end',
    [range(1, ['````', '```', 'a']), range(9, ['b', '````'], true)],
    ['```', 'a', 'b'],
  ],
  ['one that ends before', [range(1, ['```', 'a', '```', 'words'])], null],
  ['one that ends in a later part', [range(1, ['```', 'a']), range(3, ['```', 'words'], true)], null],
  ['one that has no end', [range(1, ['```', 'a', 'b'], true)], null],
  ['another text', [range(1, ['a', '```', 'b'])], null],
  ['the end of one', [range(7, ['```', 'b'])], null],
])('a fence around an output that is read by lines is taken off: %s', (_, ranges, lines) => {
  const fence = fenceAround(ranges, toolCall())
  const shown = ranges.flatMap((one) => (fence === null ? one : withinFence(one)).lines)
  expect(fence === null ? null : shown).toEqual(lines)
})

test('what is Markdown anyhow keeps its fence, by lines as well', () => {
  expect(fenceAround([range(1, ['```', 'a'])], toolCall({ kind: 'FETCH' }))).toBeNull()
})

test.each([
  [
    'a line that was overwritten, and is long',
    `${states(3000)}`,
    false,
    'progress 2999',
    'progress 2998␍progress 2999',
  ],
  ['the same of which the end is not known', `${states(3000)}\rprogr`, true, 'progress 2999 …', '2999 …'],
  ['a long line', `${'x'.repeat(30_000)}y`, false, `${'x'.repeat(20_000)}…`, 'xx'],
  ['a long last state', `a\r${'x'.repeat(30_000)}`, false, `${'x'.repeat(20_000)} …`, '…␍xx'],
  ['a line that was cut before', 'short', true, 'short…', 'short'],
  ['a line that is not long', '1 %\r2 %', false, '2 %', '1 %␍2 %'],
])('%s is shown as it ended, and what is cut is marked', (_, line, isCut, ended, raw) => {
  const first = {
    from: 7,
    lines: ['begins', line, 'ends'],
    truncated: isCut ? [8] : [],
    totalLines: 9,
    nextFrom: null,
  }
  const { container } = render(<Lines id="m" call={toolCall({ kind: 'EXECUTE' })} first={first} />)
  const shown = () =>
    [...container.querySelectorAll('.scroll pre:not(.numbers)')].map((one) => one.textContent)
  expect(shown()).toEqual([`begins\n${ended}\nends`])
  const button = screen.queryByRole('button', { name: 'Raw' })
  if (button) fireEvent.click(button)
  expect(shown()[0]).toContain(raw)
})

/** What a program prints that overwrites its line so many times. */
function states(count: number): string {
  return Array.from({ length: count }, (_, index) => `progress ${index}`).join('\r')
}

test('a long output is raw line by line as it was printed, and back again', () => {
  const text = Array.from({ length: 250 }, (_, index) => `${ESC}[32mline ${index}\r\n`).join('')
  const { container } = render(<Terminal text={text} />)
  const shown = () => [...container.querySelectorAll('.scroll pre')].map((one) => one.textContent).join('\n')
  const ended = shown()
  fireEvent.click(screen.getByRole('button', { name: 'Raw' }))
  expect(screen.getByRole('button', { name: 'Raw' }).getAttribute('aria-pressed')).toBe('true')
  expect(shown()).toBe(text.replaceAll(ESC, '␛').replaceAll('\r', '␍'))
  fireEvent.click(screen.getByRole('button', { name: 'Raw' }))
  expect(shown()).toBe(ended)
})
