import { expect, test } from 'vitest'
import { counted, duration, size, when } from './format'
import { firstLine, visible } from './visible'

test('sizes are told as people read them', () => {
  expect([0, 999, 1000, 12_345, 999_949, 999_950, 5_800_000, 2_000_000_000].map(size)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '12.3 KB',
    '999.9 KB',
    '1.0 MB',
    '5.8 MB',
    '2.0 GB',
  ])
})

test('durations are told as people read them', () => {
  expect([40, 2500, 12_000, 185_000, 4_320_000].map(duration)).toEqual([
    '0.0 s',
    '2.5 s',
    '12 s',
    '3 min 5 s',
    '1 h 12 min',
  ])
})

test('one is not many', () => {
  expect([counted(1, 'message'), counted(1200, 'message')]).toEqual(['1 message', '1,200 messages'])
})

test('a time of today has no date, one of another year no hour', () => {
  const now = new Date('2026-05-04T12:00:00')
  expect(when('2026-05-04T09:30:00', now)).toBe('09:30')
  expect(when('2026-03-01T09:30:00', now)).toBe('1 Mar, 09:30')
  expect(when('2024-03-01T09:30:00', now)).toBe('1 Mar 2024')
})

test('what would hide or reorder text is shown by its name', () => {
  expect(visible('a\u202eb\u2066c\u0007d\te\r\nf\rg\r')).toBe('a⟨U+202E⟩b⟨U+2066⟩c␇d\te\nf␍g')
  expect(firstLine('10 %\r50 %\r100 %\r\ndone')).toBe('100 %')
  expect(firstLine('\n  \u001b[31mred\u001b[0m\nnext')).toBe('red')
})
