import { type ReactNode, useState } from 'react'

interface Props {
  url: string
  /** What it is, with its size. */
  name: string
  /** What is shown in its place if it cannot be: beside a sentence that says so. */
  otherwise: ReactNode
  className?: string
  children?: ReactNode
}

/** A picture that leads to itself; a sentence where its bytes are none that the browser can draw. */
export function Picture({ url, name, otherwise, className, children }: Props) {
  const [broken, setBroken] = useState(false)
  if (broken) {
    return (
      <p className="note">
        The picture ({name}) cannot be shown: its data may be damaged. {otherwise}
      </p>
    )
  }
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className={className}>
      <img src={url} alt={name} loading="lazy" onError={() => setBroken(true)} />
      {children}
    </a>
  )
}
