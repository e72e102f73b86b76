import { later } from '../interface/later'
import { visible } from '../interface/visible'

const Markdown = later(() => import('./Markdown'))

/** Have the code at hand that draws Markdown. */
export const expectProse = Markdown.ready

/** Text in Markdown; as it was written until the code that draws it has come, with the first such text. */
export function Prose({ text }: { text: string }) {
  return <Markdown text={text} fallback={<div className="markdown plain">{visible(text)}</div>} />
}
