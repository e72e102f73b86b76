import { useEffect, useRef } from 'react'

interface Props {
  load: () => void
  /** Whether the rows above it are drawn: before that, it is in sight wherever a person is. */
  isBelowRows: boolean
}

/** Loads on as a person comes near it; a button as well, for the keyboard. */
export function More({ load, isBelowRows }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const element = button.current
    if (!element || !isBelowRows) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      root: element.closest('main'),
      rootMargin: '600px',
    })
    observer.observe(element)
    return () => observer.disconnect()
  })
  return (
    <button ref={button} type="button" className="more" onClick={load}>
      Show more sessions
    </button>
  )
}
