import { type ComponentType, type ReactNode, useEffect, useState } from 'react'

/**
 * A component whose code comes when it is first shown, and `fallback` until then.
 *
 * React's own `lazy` holds back what has come until 300 ms after the last fallback, which is many times what the code
 * takes to come.
 */
export function later<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  let known: ComponentType<Props> | null = null
  const ready = async () => {
    known ??= (await load()).default
  }
  function Later({ fallback = null, ...props }: Props & { fallback?: ReactNode }) {
    const [, tell] = useState(false)
    useEffect(() => {
      if (known) return
      let mounted = true
      ready().then(
        () => mounted && tell(true),
        // In a render, so that the boundary around it says it.
        (error: unknown) =>
          mounted &&
          tell(() => {
            throw error
          }),
      )
      return () => {
        mounted = false
      }
    }, [])
    const Known = known
    return Known ? <Known {...(props as unknown as Props)} /> : fallback
  }
  return Object.assign(Later, { ready })
}
