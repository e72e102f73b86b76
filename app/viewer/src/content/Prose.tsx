import { later } from '../interface/later'
import { visible } from '../interface/visible'

const Markdown = later(() => import('./Markdown'))

/** What is shown without the code that draws Markdown moves when that comes; it is waited for so long. */
const HELD_MS = 1000

/** Have the code at hand that draws Markdown, unless it takes too long or does not come. */
export async function proseInTime(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, HELD_MS)
  })
  await Promise.race([Markdown.ready().catch(() => undefined), late])
  clearTimeout(timer)
}

/** Text in Markdown; as it was written until the code that draws it has come, with the first such text. */
export function Prose({ text }: { text: string }) {
  return <Markdown text={text} fallback={<div className="markdown plain">{visible(text)}</div>} />
}
