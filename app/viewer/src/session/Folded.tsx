import { Brain, ChevronRight, Info } from 'lucide-react'
import type { Message } from '../graphql/documents'
import { size } from '../interface/format'
import { setOpened, useOpened } from '../interface/opened'
import { firstLine } from '../interface/visible'
import { MessageText } from './MessageText'

/** Thinking and what the system put in: one line, all of it when opened. */
export function Folded({ message, name }: { message: Message; name: string }) {
  const open = useOpened(message.id)
  const Icon = message.role === 'THINKING' ? Brain : Info
  return (
    <>
      <button
        type="button"
        className="fold"
        data-primary
        aria-expanded={open}
        onClick={() => setOpened(message.id, !open)}
      >
        <ChevronRight size={14} className="chevron" aria-hidden />
        <Icon size={15} className="kind" aria-hidden />
        <span className="what">
          {name} <span className="preview">{open ? '' : firstLine(message.contentPreview)}</span>
        </span>
        <span className="facts">
          <span className="size">{size(message.contentSize)}</span>
        </span>
      </button>
      {open && (
        <div className="unfolded">
          <MessageText message={message} />
        </div>
      )}
    </>
  )
}
