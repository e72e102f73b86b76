import { Failure } from '../interface/Failure'
import { Messages } from './Messages'
import { useTranscript } from './useTranscript'

/** A session's messages in a frame of fixed height, inside another session. */
export default function Place({ id }: { id: string }) {
  const transcript = useTranscript(id, 1)
  if (transcript.state === 'failed') {
    return <Failure reason={transcript.problem ?? ''} retry={() => void transcript.open(1)} />
  }
  if (transcript.state === 'absent') return <p className="note">This session is not there any more.</p>
  return (
    <div className="nested">
      {transcript.state === 'opening' ? (
        <p role="status" className="note">
          Loading the session
        </p>
      ) : (
        <Messages
          transcript={transcript}
          start={0}
          address={`/sessions/${id}`}
          end="To the sub-agent’s end"
        />
      )}
    </div>
  )
}
