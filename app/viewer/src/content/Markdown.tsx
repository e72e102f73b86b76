import { memo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { visible } from '../interface/visible'
import { Code } from './Code'
import { languageOf } from './languages'

const PLUGINS = [remarkGfm]

/** No raw HTML, no foreign picture: an image is a link that a person may follow. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => (
    <Link href={typeof src === 'string' ? src : undefined}>[image: {alt || 'no description'}]</Link>
  ),
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children)
    const language = /language-(\S+)/.exec(className ?? '')?.[1]
    if (!language && !text.includes('\n')) return <code>{text}</code>
    return <Code text={text.replace(/\n$/, '')} language={languageOf(language)} />
  },
  table: ({ children }) => (
    <section className="table" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
  input: ({ checked }) => (
    <span role="img" className="box" aria-label={checked ? 'done' : 'to do'}>
      {checked ? '☑' : '☐'}
    </span>
  ),
  // A message's headings are below the page's own.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
}

function Link({ href, children }: { href: string | undefined; children: React.ReactNode }) {
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <span title={href}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

/** Text in Markdown, GitHub's dialect. */
export default memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} skipHtml={false}>
        {visible(text)}
      </ReactMarkdown>
    </div>
  )
})
