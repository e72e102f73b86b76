import { ChevronRight, Layers } from 'lucide-react'
import { memo } from 'react'
import { ToolCard } from '../card/ToolCard'
import type { Message } from '../graphql/documents'
import { Boundary } from '../interface/Boundary'
import { fully, size, time } from '../interface/format'
import { setOpened, useOpened } from '../interface/opened'
import { visible } from '../interface/visible'
import { Attachments } from './Attachments'
import { Folded } from './Folded'
import { describe } from './folding'
import { MessageText } from './MessageText'

interface Props {
  sequence: number
  count: number
  /** Undefined until its page has come. */
  message: Message | undefined
  run: readonly Message[] | undefined
  current: boolean
  /** Of the placeholder, in pixels. */
  height: number
  address: string
}

export function foldKey(head: Message): string {
  return `fold ${head.id}`
}

/** One message, or the line that several fold into, or the place where one will be. */
export const Row = memo(function Row({ sequence, count, message, run, current, height, address }: Props) {
  const head = run?.[0]
  const unfolded = useOpened(head ? foldKey(head) : '')
  if (!message) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: the element itself is for messages that are there.
      <div
        className="row placeholder"
        role="article"
        aria-posinset={sequence}
        aria-setsize={count}
        aria-label={`Message ${sequence}, not loaded`}
        style={{ blockSize: height || undefined }}
      />
    )
  }
  const isHead = head?.sequence === sequence
  if (head && !isHead && !unfolded) return <div className="away" />
  const speaker = speakerOf(message)
  return (
    <article
      className="row"
      data-role={message.role}
      data-sequence={sequence}
      data-current={current || undefined}
      tabIndex={-1}
      aria-posinset={sequence}
      aria-setsize={count}
      aria-label={`${speaker}, message ${sequence}`}
    >
      <a
        className="sequence"
        href={`${address}#m${sequence}`}
        title={fully(message.createdAt)}
        tabIndex={current ? 0 : -1}
      >
        <span className="unseen">Message </span>
        {sequence}
      </a>
      <div className="content">
        {head && isHead && <FoldLine run={run} open={unfolded} />}
        {(!head || unfolded) && (
          <Boundary fallback={<p className="note">This message could not be drawn.</p>}>
            <Content message={message} speaker={speaker} />
          </Boundary>
        )}
      </div>
    </article>
  )
})

function Content({ message, speaker }: { message: Message; speaker: string }) {
  const folds = message.role === 'THINKING' || message.role === 'SYSTEM' || message.origin === 'system'
  const hasText = message.contentSize > 0
  return (
    <>
      {folds ? (
        <Folded message={message} name={speaker} />
      ) : (
        <>
          {(message.role === 'USER' || message.role === 'PLAN') && (
            <p className="speaker">
              {speaker} <time dateTime={message.createdAt}>{time(message.createdAt)}</time>
            </p>
          )}
          {hasText && <MessageText message={message} />}
        </>
      )}
      <Attachments attachments={message.attachments} />
      {message.toolMetadata && <ToolCard message={message} call={message.toolMetadata} />}
      {message.repaired && <p className="note">Bytes of this message had to be repaired on the way in.</p>}
    </>
  )
}

function FoldLine({ run, open }: { run: readonly Message[]; open: boolean }) {
  const bytes = run.reduce((sum, message) => sum + (message.toolMetadata?.contentSize ?? 0), 0)
  const head = run[0] as Message
  return (
    <button
      type="button"
      className="fold"
      data-primary={open ? undefined : true}
      aria-expanded={open}
      onClick={() => setOpened(foldKey(head), !open)}
    >
      <ChevronRight size={14} className="chevron" aria-hidden />
      <Layers size={15} className="kind" data-kind="READ" aria-hidden />
      <span className="what">{describe(run)}</span>
      <span className="facts">
        <span className="size">{size(bytes)}</span>
      </span>
    </button>
  )
}

function speakerOf(message: Message): string {
  if (message.origin === 'system') return 'Injected'
  switch (message.role) {
    case 'USER':
      return 'User'
    case 'ASSISTANT':
      return 'Assistant'
    case 'THINKING':
      return 'Thinking'
    case 'SYSTEM':
      return 'System'
    case 'PLAN':
      return 'Plan'
    default:
      return message.toolMetadata ? `Tool call ${visible(message.toolMetadata.name ?? '')}`.trim() : 'Tool'
  }
}
