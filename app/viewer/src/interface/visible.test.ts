import { expect, test } from 'vitest'
import { firstLine, visible, withoutEscapes, withoutMovements } from './visible'

const ESC = '\u001b'

test.each([
  ['\u202e', '⟨U+202E⟩'],
  ['\u200b', '⟨U+200B⟩'],
  ['\u200d', '⟨U+200D⟩'],
  ['\u2060', '⟨U+2060⟩'],
  ['\u2028', '⟨U+2028⟩'],
  ['\u2029', '⟨U+2029⟩'],
  ['\u00ad', '⟨U+00AD⟩'],
  ['\ufeff', '⟨U+FEFF⟩'],
  ['\u{e0041}', '⟨U+E0041⟩'],
  ['\u{e0101}', '⟨U+E0101⟩'],
  ['\u0007', '␇'],
])('what cannot be seen between two letters is named: %o', (character, name) => {
  expect(visible(`a${character}b`)).toBe(`a${name}b`)
})

test('what joins one picture or one word of a script stays as it is', () => {
  const flag = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'
  const texts = ['👩‍💻', '👁️‍🗨️', '🏳️‍🌈', '👩🏽‍🚀', '❤️', 'می‌خواهم', 'क्‍ष', flag]
  for (const text of texts) expect(visible(text)).toBe(text)
})

test.each([
  `before ${ESC}]0;a title\nnext line\nlast line`,
  `before ${ESC}]8;;https://example.com\nnext line\nlast line`,
  `before ${ESC}Pdevice\nnext line\nlast line`,
  `before ${ESC}_application\nnext line\nlast line`,
])('a sequence that has no end hides no more than its line: %o', (text) => {
  expect(withoutEscapes(text)).toBe('before \nnext line\nlast line')
  expect(withoutMovements(text)).toBe('before \nnext line\nlast line')
})

test('a sequence that is longer than any title is shown, without what began it', () => {
  const long = 'x'.repeat(5000)
  expect(withoutEscapes(`a ${ESC}]0;${long}`)).toBe(`a 0;${long}`)
  expect(firstLine(`${ESC}]0;short\u0007words`)).toBe('words')
})

test.each([
  ['```console\nok\n```', 'ok'],
  ['```\n\n1\timport sys\n```', '1\timport sys'],
  ['****\nThe source comes first.', 'The source comes first.'],
  ['****', ''],
  ['\n  words  \nmore', 'words'],
])('the first line is one that says something: %o', (text, line) => {
  expect(firstLine(text)).toBe(line)
})
