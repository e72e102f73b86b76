import { Check, Copy, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from './clipboard'

const ICONS = { idle: Copy, copied: Check, failed: X }

/** Copies `text`, and says for two seconds whether it could. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [state, setState] = useState<keyof typeof ICONS>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    const isCopied = await copyText(typeof text === 'function' ? text() : text)
    setState(isCopied ? 'copied' : 'failed')
  }
  const said = { idle: label, copied: 'Copied', failed: 'Could not be copied' }[state]
  const Icon = ICONS[state]
  return (
    <button type="button" className="quiet" onClick={copy} aria-label={said} title={said}>
      <Icon size={14} aria-hidden />
    </button>
  )
}
