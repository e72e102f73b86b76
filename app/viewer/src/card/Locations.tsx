import { Check, MapPin } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ToolCall } from '../graphql/documents'
import { visible } from '../interface/visible'

/** The files that a call touched; each copies its path and line. */
export function Locations({ locations }: { locations: ToolCall['locations'] }) {
  if (!locations.length) return null
  return (
    <ul className="locations" aria-label="Files">
      {locations.map(({ path, line }) => (
        <li key={`${path}:${line}`}>
          <Place place={line === null ? path : `${path}:${line}`} />
        </li>
      ))}
    </ul>
  )
}

function Place({ place }: { place: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => void navigator.clipboard?.writeText(place).then(() => setCopied(true))
  return (
    <button type="button" className="place" onClick={copy} title="Copy the path">
      {copied ? <Check size={12} aria-hidden /> : <MapPin size={12} aria-hidden />}
      <span className="unseen">Copy the path </span>
      <code>{visible(place)}</code>
      {copied && (
        <span role="status" className="unseen">
          copied
        </span>
      )}
    </button>
  )
}
