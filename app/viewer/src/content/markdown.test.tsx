import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import Markdown from './Markdown'
import { BLOCKS, pieces } from './pieces'

function shown(text: string): HTMLElement {
  return render(<Markdown text={text} />).container.querySelector('.markdown') as HTMLElement
}

test('markdown has no raw HTML, no script address and no foreign picture', () => {
  const text =
    '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[run](javascript:alert(1)) [data](data:text/html,x)\n\n' +
    '[hidden](&#106;avascript:alert(1)) <javascript:alert(1)>\n\n' +
    '![tracker](https://example.com/t.png)\n\n<svg onload=alert(1)></svg>\n\n[site](https://example.com/)'
  const markdown = shown(text)
  expect(markdown.querySelector('script, img, svg:not(.lucide), iframe')).toBeNull()
  const addresses = [...markdown.querySelectorAll('a')].map((link) => link.getAttribute('href'))
  expect(addresses).toEqual(['https://example.com/t.png', 'https://example.com/'])
  expect([...markdown.querySelectorAll('a')].every((link) => link.rel.includes('noopener'))).toBe(true)
  expect(markdown.textContent).toContain('[image: tracker]')
  expect(markdown.textContent).toContain('<script>alert(1)</script>')
})

test('all that GitHub writes with has its element', () => {
  const markdown = shown(
    [
      '# One\n\n## Two\n\n##### Five',
      'A *word*, **strong**, ~~gone~~, `code`, a line\\\nbreak and https://example.com/x.',
      '> quoted\n> on',
      '3. three\n4. four\n   - inner',
      '- [x] done\n- [ ] to do',
      '| a | b |\n| - | -: |\n| 1 | 2 |',
      '---',
      '```py\nx = 1 < 2\n```',
      '    indented',
      '[named][ref]\n\n[ref]: https://example.com/ref "title"',
    ].join('\n\n'),
  )
  const texts = (selector: string) => [...markdown.querySelectorAll(selector)].map((one) => one.textContent)
  expect([texts('h3'), texts('h4'), texts('h6')]).toEqual([['One'], ['Two'], ['Five']])
  expect([texts('em'), texts('strong'), texts('del'), texts('p code')]).toEqual([
    ['word'],
    ['strong'],
    ['gone'],
    ['code'],
  ])
  expect(markdown.querySelector('p br')).toBeTruthy()
  expect(texts('blockquote p')).toEqual(['quoted\non'])
  expect(markdown.querySelector('ol')?.getAttribute('start')).toBe('3')
  expect(texts('ol li ul li')).toEqual(['inner'])
  expect(screen.getAllByRole('img').map((box) => box.getAttribute('aria-label'))).toEqual(['done', 'to do'])
  expect([texts('th'), texts('td')]).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ])
  expect(markdown.querySelector('hr')).toBeTruthy()
  expect(texts('pre code')).toEqual(['x = 1 < 2', 'indented'])
  expect(texts('a')).toEqual(['https://example.com/x', 'named'])
})

test('character references are read once, and not in code', () => {
  expect(shown('a &lt; b &amp;lt; c &#x41; &nbsp;&unknown; &copy `&lt;`').textContent).toBe(
    'a < b &lt; c A \u00a0&unknown; &copy &lt;',
  )
})

test.each([
  ['see photo_&#x202e;gpj.exe', 'see photo_⟨U+202E⟩gpj.exe'],
  ['[click &#8238;moc.elpmaxe](https://example.com/)', 'click ⟨U+202E⟩moc.elpmaxe'],
  ['![a &rlm; picture](https://example.com/)', '[image: a ⟨U+200F⟩ picture]'],
  ['## &lrm;a **&#x2066;b** ~~&ZeroWidthSpace;c~~', '⟨U+200E⟩a ⟨U+2066⟩b ⟨U+200B⟩c'],
  ['| a&#7; |\n| - |\n| &#x1b;[31m |', 'a␇␛[31m'],
  ['- [ ] a&#xfeff;', '☐a⟨U+FEFF⟩'],
  ['👩&zwj;🚀 &#x0928;&#x094d;&zwj;', '👩\u200d🚀 न्\u200d'],
])('what cannot be seen is shown by its name in %s', (text, read) => {
  expect(shown(text).textContent).toBe(read)
})

test('an address that leads nowhere is told with what cannot be seen in it', () => {
  expect(shown('[a](x:&#x202e;b)').querySelector('span')?.title).toBe('x:⟨U+202E⟩b')
})

test('character references in addresses are read, but not where an address stands by itself', () => {
  const links = shown('[a](https://example.com/?a&amp;b) https://example.com/?a&amp;b').querySelectorAll('a')
  expect([...links].map((link) => [link.getAttribute('href'), link.textContent])).toEqual([
    ['https://example.com/?a&b', 'a'],
    ['https://example.com/?a&amp;b', 'https://example.com/?a&amp;b'],
  ])
})

test('what is between lines of markup stands as it was written', () => {
  expect(shown('a <b>bold</b> c <!-- d -->').textContent).toBe('a <b>bold</b> c <!-- d -->')
})

test.each(['> ', '- ', '[', '*_'])('a text that is %s at any depth can be read', (mark) => {
  const text = `${mark.repeat(5_000)}innermost`
  expect(shown(text).textContent).toContain('innermost')
})

test('a long text is cut between paragraphs, never in code, and nothing of it is lost', () => {
  const code = `\`\`\`py\n${'x = 1\n\n'.repeat(1_500)}\`\`\`\n`
  const text = `${'A paragraph of words.\n\n'.repeat(400)}${code}\n1. one\n\n   ${'more '.repeat(900)}\n\n   of it\n\nThe end`
  const found = pieces(text)
  expect(found.join('')).toBe(text)
  expect(found.length).toBeGreaterThan(3)
  expect(found.filter((piece) => piece.includes('x = 1'))).toHaveLength(1)
  expect(found.find((piece) => piece.includes('1. one'))).toContain('of it')
})

test('a text of very many blocks of code is drawn in parts, each of which is whole', () => {
  const text = '```\na\n```\n'.repeat(2_000)
  const found = pieces(text)
  expect(found.join('')).toBe(text)
  expect(found.map((piece) => (piece.match(/```\na\n```\n/g) ?? []).length)).toEqual(
    Array(2_000 / BLOCKS).fill(BLOCKS),
  )
  const nested = `- one\n${'\n  ```\n  some code of it\n  ```\n'.repeat(BLOCKS * 3)}\n  of one\n`
  expect(pieces(nested)).toEqual([nested])
  expect(shown(text.slice(0, 5_000)).querySelectorAll('.code')).toHaveLength(500)
})

test('a message of nothing but definitions of links is shown as it was written', () => {
  expect(shown('[a]: https://example.com/a\n[b]: https://example.com/b').textContent).toBe(
    '[a]: https://example.com/a\n[b]: https://example.com/b',
  )
  expect(shown('words\n\n[a]: https://example.com/a').textContent).toBe('words')
})

test('all pieces of a long text are shown, and a name that is defined in another leads on', async () => {
  const words = 'Words without end. '.repeat(30)
  const text = `[first][ref] and **strong**\n\n${`${words}\n\n`.repeat(40)}\n\n[ref]: https://example.com/ref\n\n*last*`
  expect(pieces(text).length).toBeGreaterThan(4)
  const markdown = shown(text)
  expect((await screen.findByText('last')).tagName).toBe('EM')
  expect(markdown.querySelectorAll('p').length).toBe(42)
  expect(screen.getByText('first').getAttribute('href')).toBe('https://example.com/ref')
})

test('what is quoted hundreds of times is shown as it was written, and what is beside it is not', () => {
  const beside = `${'*words* '.repeat(300)}\n\n`
  const markdown = shown(`${beside}${'> '.repeat(1_200)}innermost`)
  expect(markdown.querySelector('blockquote')).toBeNull()
  expect(markdown.querySelector('em')).not.toBeNull()
})

test('a line of any length is shown as it was written', () => {
  const line = '***a** '.repeat(3_000)
  expect(shown(`${line}\n*more*`).querySelector('.plain')?.textContent).toBe(`${line}\n`)
})
