import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { Failure } from './Failure'

/** What has come breaks nothing; what has not leaves nothing behind in the browser that a second try would find. */
const REASON =
  'A part of the viewer could not be loaded. If Retry does not help, load the page again: the server may have a newer one.'

/**
 * A component whose code comes when it is first shown, and `fallback` until then. Where it does not come, that is said
 * in its place, by `otherwise` or with its reason, and it is asked for again on request or where it is shown next.
 *
 * React's own `lazy` holds back what has come until 300 ms after the last fallback, which is many times what the code
 * takes to come, and keeps a failure for good.
 */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  otherwise: (props: Props, retry: () => void) => ReactNode = (_, retry) => (
    <Failure reason={REASON} retry={retry} />
  ),
) {
  let known: ComponentType<Props> | null = null
  let asked: Promise<void> | null = null
  const waiting = new Set<(failed: boolean) => void>()
  const ready = (): Promise<void> => {
    if (known) return Promise.resolve()
    asked ??= load()
      .then((module) => {
        known = module.default
      })
      .finally(() => {
        asked = null
        for (const tell of waiting) tell(known === null)
      })
    return asked
  }
  function Later({ fallback = null, ...props }: Props & { fallback?: ReactNode }) {
    const [state, setState] = useState<'waiting' | 'failed' | 'there'>(known ? 'there' : 'waiting')
    useEffect(() => {
      const tell = (failed: boolean) => setState(failed ? 'failed' : 'there')
      waiting.add(tell)
      if (known) tell(false)
      // It is told through `waiting`.
      else ready().catch(() => undefined)
      return () => {
        waiting.delete(tell)
      }
    }, [])
    const Known = known
    if (Known) return <Known {...(props as unknown as Props)} />
    if (state !== 'failed') return fallback
    return otherwise(props as unknown as Props, () => {
      setState('waiting')
      ready().catch(() => undefined)
    })
  }
  return Object.assign(Later, { ready })
}
