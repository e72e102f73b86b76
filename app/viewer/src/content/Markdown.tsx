import { Lexer, type Links, type MarkedToken, type Token, type Tokens } from 'marked'
import { memo, type ReactNode, startTransition, useEffect, useMemo, useState } from 'react'
import { visible } from '../interface/visible'
import { Code } from './Code'
import { languageOf } from './languages'
import { definitions, pieces } from './pieces'

const NONE: Links = {}

/** So many pieces are drawn at once; the others follow without keeping the page from anything else. */
const AT_ONCE = 1
/** A single line that is longer is shown as it was written. */
const MOST_LINE = 8_000
/** What is quoted more often than this is as well: laying it out would take as long as all of the page. */
const QUOTED = /^(?: {0,3}> ?){250}/m

/**
 * Text in Markdown, GitHub's dialect, as elements of React: no raw HTML, no foreign picture (an image is a link that a person
 * may follow).
 */
export default memo(function Markdown({ text }: { text: string }) {
  const parts = useMemo(() => pieces(visible(text)), [text])
  const links = useMemo(() => (parts.length > 1 ? definitions(text) : NONE), [parts, text])
  const [drawn, setDrawn] = useState(AT_ONCE)
  // Step by step, as what was drawn in between is put into the page at once.
  useEffect(() => {
    if (drawn < parts.length) startTransition(() => setDrawn(drawn + AT_ONCE))
  }, [parts, drawn])
  return (
    <div className="markdown">
      {parts.slice(0, drawn).map((part, index) => (
        <Piece key={index} text={part} links={links} alone={parts.length === 1} />
      ))}
    </div>
  )
})

const Piece = memo(function Piece({ text, links, alone }: { text: string; links: Links; alone: boolean }) {
  const tokens = useMemo(() => lex(text, links), [text, links])
  // Nothing but the addresses of links would be an empty message.
  const isBlank = alone && tokens?.every((token) => token.type === 'def' || token.type === 'space')
  return tokens && !isBlank ? all(tokens) : <div className="plain">{text}</div>
})

/** The parts of a text; null where it is nested deeper, or goes on longer, than can be read. */
function lex(text: string, links: Links): Token[] | null {
  if (text.length > MOST_LINE && !text.trimEnd().includes('\n')) return null
  if (QUOTED.test(text)) return null
  const lexer = new Lexer({ gfm: true })
  Object.assign(lexer.tokens.links, links)
  try {
    return lexer.lex(text)
  } catch {
    return null
  }
}

function all(tokens: Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, index) => <One key={index} token={token as MarkedToken} />)
}

const One = memo(function One({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{all(token.tokens)}</p>
    case 'heading':
      return <Heading depth={token.depth}>{all(token.tokens)}</Heading>
    case 'list':
      return <List list={token} />
    case 'code':
      return <Code text={token.text} language={languageOf(token.lang?.split(/\s/)[0])} />
    case 'blockquote':
      return <blockquote>{all(token.tokens)}</blockquote>
    case 'table':
      return <Table table={token} />
    case 'hr':
      return <hr />
    case 'strong':
      return <strong>{all(token.tokens)}</strong>
    case 'em':
      return <em>{all(token.tokens)}</em>
    case 'del':
      return <del>{all(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      // An address that stands by itself has no character references.
      if (token.autolink) return <Link href={token.href}>{token.text}</Link>
      return <Link href={decoded(token.href)}>{all(token.tokens)}</Link>
    case 'image':
      return <Link href={decoded(token.href)}>[image: {read(token.text) || 'no description'}]</Link>
    case 'checkbox':
      return (
        <span role="img" className="box" aria-label={token.checked ? 'done' : 'to do'}>
          {token.checked ? '☑' : '☐'}
        </span>
      )
    case 'text':
      return token.tokens ? all(token.tokens) : read(token.text)
    case 'escape':
      return token.text
    // What would be markup is shown as it was written.
    case 'html':
      return token.block ? <p>{token.raw.trimEnd()}</p> : token.raw
    default:
      return null
  }
})

/** A message's headings are below the page's own. */
function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  const Level = (['h3', 'h4', 'h5'] as const)[depth - 1] ?? 'h6'
  return <Level>{children}</Level>
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {all(item.tokens)}
    </li>
  ))
  return list.ordered ? <ol start={list.start || undefined}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table }: { table: Tokens.Table }) {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map((cell, index) => (
      <Cell key={index} style={{ textAlign: cell.align ?? undefined }}>
        {all(cell.tokens)}
      </Cell>
    ))
  return (
    <section className="table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(table.header, 'th')}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return <span title={visible(href)}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

/** The same to be read: a character that cannot be seen may be written as a reference too. */
function read(text: string): string {
  return visible(decoded(text))
}

/** A text with its character references, such as `&lt;`, as the characters that they stand for. */
function decoded(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});/gi, (reference) => {
    const field = document.createElement('textarea')
    // What is in this element is never markup.
    field.innerHTML = reference
    return field.value
  })
}
