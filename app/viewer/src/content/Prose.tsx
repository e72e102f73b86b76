import { Failure } from '../interface/Failure'
import { later } from '../interface/later'
import { visible } from '../interface/visible'

const Markdown = later(
  () => import('./Markdown'),
  ({ text }, retry) => (
    <>
      <Plain text={text} />
      <Failure
        role="status"
        reason="Shown as it was written: what draws Markdown could not be loaded."
        retry={retry}
      />
    </>
  ),
)

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

/** Have it at hand for a text that may come later, once what is shown has been painted and the page is idle. */
export function proseWhenIdle(): void {
  const come = () => void Markdown.ready().catch(() => undefined)
  requestAnimationFrame(() => {
    // Not every browser tells when it is idle.
    if ('requestIdleCallback' in window) requestIdleCallback(come)
    else setTimeout(come)
  })
}

/** Text in Markdown; as it was written until the code that draws it has come, with the first such text at the latest. */
export function Prose({ text }: { text: string }) {
  return <Markdown text={text} fallback={<Plain text={text} />} />
}

function Plain({ text }: { text: string }) {
  return <div className="markdown plain">{visible(text)}</div>
}
