import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'

/** Copies `text`, and says so for two seconds. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard
      ?.writeText(typeof text === 'function' ? text() : text)
      .then(() => setCopied(true))
  }
  return (
    <button
      type="button"
      className="quiet"
      onClick={copy}
      aria-label={copied ? 'Copied' : label}
      title={label}
    >
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </button>
  )
}
