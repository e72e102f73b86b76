import { memo, useCallback, useState } from 'react'
import { Prose } from '../content/Prose'
import { request } from '../graphql/client'
import { type Message, MessageTextQuery } from '../graphql/documents'
import { CopyButton } from '../interface/CopyButton'
import { size } from '../interface/format'
import { later } from '../interface/later'
import { visible } from '../interface/visible'

const Slices = later(async () => ({ default: (await import('../content/Slices')).Slices }))

/** More of a long text comes when asked for. */
const CHARACTERS = 20_000

/** A message's text: Markdown, but for what people typed, which stands as it was typed. */
export const MessageText = memo(function MessageText({ message }: { message: Message }) {
  const [limit, setLimit] = useState(CHARACTERS)
  if (message.content === null) return <Withheld message={message} />
  const text = message.content
  const shown = text.length > limit ? upToLine(text, limit) : text
  const asTyped = message.role === 'USER' || message.role === 'SYSTEM' || message.role === 'TOOL'
  return (
    <div className="text">
      {asTyped ? <div className="plain">{visible(shown)}</div> : <Prose text={shown} />}
      {shown.length < text.length && (
        <button type="button" className="more" onClick={() => setLimit(limit + CHARACTERS)}>
          Show more of {size(message.contentSize)}
        </button>
      )}
      <div className="tools">
        <CopyButton text={text} label="Copy message" />
      </div>
    </div>
  )
})

/** A text that the guard kept back: its beginning, and all of it when asked for. */
function Withheld({ message }: { message: Message }) {
  const [asked, setAsked] = useState(false)
  const read = useCallback(
    async (offset: number) => {
      const answer = await request(MessageTextQuery, { id: message.id, offset })
      const slice = answer.message?.contentSlice
      if (!slice) throw new Error('The message is not there any more.')
      return slice
    },
    [message.id],
  )
  const preview = <div className="plain">{visible(message.contentPreview)}…</div>
  if (asked) {
    return <Slices read={read} language="" label="Message" fallback={preview} />
  }
  return (
    <div className="text">
      {preview}
      <button type="button" className="more" onClick={() => setAsked(true)}>
        Show all of it ({size(message.contentSize)})
      </button>
    </div>
  )
}

function upToLine(text: string, limit: number): string {
  const end = text.lastIndexOf('\n', limit)
  return text.slice(0, end > limit / 2 ? end : limit)
}
