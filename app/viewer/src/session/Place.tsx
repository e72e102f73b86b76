import { type RefObject, useMemo, useRef } from 'react'
import { Failure } from '../interface/Failure'
import { useShortcuts } from '../interface/shortcuts'
import { Messages, type MessagesHandle, walking } from './Messages'
import { useTranscript } from './useTranscript'

interface Props {
  id: string
  /** Where the keys walk through this session and not the one around it. */
  within: RefObject<HTMLElement | null>
  /** Go back to the session around it. */
  leave: () => void
}

/** A session's messages in a frame of fixed height, inside another session. */
export default function Place({ id, within, leave }: Props) {
  const transcript = useTranscript(id, 1)
  const messages = useRef<MessagesHandle>(null)
  const frame = useRef<HTMLDivElement>(null)
  const keys = useMemo(() => {
    const walk = Object.entries(walking(messages)).map(([key, step]) => [
      key,
      () => {
        step()
        // A row comes into sight of its own list alone.
        frame.current?.scrollIntoView({ block: 'nearest' })
      },
    ])
    return { ...Object.fromEntries(walk), Escape: leave }
  }, [leave])
  useShortcuts(keys, within)
  if (transcript.state === 'failed') {
    return <Failure reason={transcript.problem ?? ''} retry={() => void transcript.open(1)} />
  }
  if (transcript.state === 'absent') return <p className="note">This session is not there any more.</p>
  return (
    <div className="nested" ref={frame}>
      {transcript.state === 'opening' ? (
        <p role="status" className="note">
          Loading the session
        </p>
      ) : (
        <Messages
          ref={messages}
          transcript={transcript}
          start={0}
          address={`/sessions/${id}`}
          end="To the sub-agent’s end"
        />
      )}
    </div>
  )
}
