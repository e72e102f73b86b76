import type { ReactNode } from 'react'
import { Failure } from './Failure'
import { useTrouble } from './media'

interface Props {
  url: string
  /** What it is, with its size. */
  name: string
  /** What is shown in its place if it cannot be: beside a sentence that says so. */
  otherwise: ReactNode
  className?: string
  children?: ReactNode
}

/** A picture that leads to itself; what is wrong where it does not come, or its bytes are none that the browser can draw. */
export function Picture({ url, name, otherwise, className, children }: Props) {
  const { trouble, retry, attempt, element } = useTrouble(url, true)
  if (trouble === 'damaged') {
    return (
      <p className="note">
        The picture ({name}) cannot be shown: its data may be damaged. {otherwise}
      </p>
    )
  }
  if (trouble) {
    return <Failure reason={`The picture (${name}) could not be loaded. ${trouble.reason}`} retry={retry} />
  }
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className={className}>
      <img key={attempt} {...element} alt={name} loading="lazy" />
      {children}
    </a>
  )
}
