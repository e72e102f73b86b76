import { lazy, Suspense } from 'react'
import { visible } from '../interface/visible'

const Markdown = lazy(() => import('./Markdown'))

/** Text in Markdown; as it was written until the code that draws it has come, with the first such text. */
export function Prose({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="markdown plain">{visible(text)}</div>}>
      <Markdown text={text} />
    </Suspense>
  )
}
