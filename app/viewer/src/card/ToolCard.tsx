import { Check, ChevronRight, CircleDashed, LoaderCircle, TriangleAlert } from 'lucide-react'
import { memo, useId } from 'react'
import type { Message, ToolCall } from '../graphql/documents'
import { duration, size } from '../interface/format'
import { setOpened, useOpened } from '../interface/opened'
import { firstLine, visible } from '../interface/visible'
import { Body } from './Body'
import { isRunning } from './contents'
import { KindIcon } from './KindIcon'
import { STATUS, stateInShort } from './words'

/** What took less is shown as if it took no time. */
const SHORTEST_MS = 50
/** Of `[]`, which says that there is nothing. */
const EMPTY_BYTES = 2

interface Props {
  message: Message
  call: ToolCall
}

/** A tool call: one line that says what it was and how large its output is; all of it when opened. */
export const ToolCard = memo(function ToolCard({ message, call }: Props) {
  const id = useId()
  const open = useOpened(message.id)
  const took = call.startedAt && call.endedAt ? Date.parse(call.endedAt) - Date.parse(call.startedAt) : null
  const preview = call.contentPreview ? firstLine(call.contentPreview) : ''
  const short = stateInShort(call)
  const name = call.name ?? call.kind.toLowerCase()
  const title = visible(call.title ?? call.locations[0]?.path ?? '')
  return (
    <section className="card" data-status={call.status} aria-labelledby={`${id}-head`}>
      <h3>
        <button
          type="button"
          id={`${id}-head`}
          className="head"
          data-primary
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={() => setOpened(message.id, !open)}
        >
          <ChevronRight size={14} className="chevron" aria-hidden />
          <KindIcon kind={call.kind} />
          <span className="what">
            <span className="tool">{visible(name)}</span>{' '}
            {title !== visible(name) && (
              <bdi className="title" title={title}>
                {title}
              </bdi>
            )}
          </span>
          <span className="facts">
            {call.childSession && <span>sub-agent</span>}
            {short && <span className="warning">{short}</span>}
            {took !== null && took >= SHORTEST_MS && <span>{duration(took)}</span>}
            {call.contentSize !== null && (call.contentSize > EMPTY_BYTES || preview) && (
              <span className="size">{size(call.contentSize)}</span>
            )}
            <Status call={call} />
          </span>
          {preview && <span className="preview">{preview}</span>}
        </button>
      </h3>
      <div id={`${id}-body`} className="body" tabIndex={-1} hidden={!open}>
        {open && <Body message={message} call={call} />}
      </div>
    </section>
  )
})

function Status({ call }: { call: ToolCall }) {
  const word = STATUS[call.status]
  if (call.status === 'COMPLETED') {
    return (
      <span className="status done">
        <Check size={14} aria-hidden />
        <span className="unseen">{word}</span>
      </span>
    )
  }
  const Icon =
    call.status === 'FAILED' ? TriangleAlert : call.status === 'PENDING' ? CircleDashed : LoaderCircle
  return (
    <span className={`status ${isRunning(call) ? 'running' : 'bad'}`}>
      <Icon size={14} aria-hidden /> {word}
    </span>
  )
}
