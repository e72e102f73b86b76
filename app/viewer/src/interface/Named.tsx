import { visible } from './visible'

/** Of a name, so many characters at most stay at its end, where files have their names. */
const LAST = 40

/** A name that may be cut for want of room: a path in its middle, so that the file is told; whole in a tooltip. */
export function Named({ name }: { name: string }) {
  const text = visible(name)
  const slash = text.lastIndexOf('/')
  const cut = slash > 0 && text.length - slash <= LAST ? slash : text.length
  return (
    <span className="named" title={text}>
      <span>{text.slice(0, cut)}</span>
      {cut < text.length && <span>{text.slice(cut)}</span>}
    </span>
  )
}
