import { RotateCw } from 'lucide-react'
import { useEffect } from 'react'
import type { Message, ToolCall } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { later } from '../interface/later'
import { ChildSession } from './ChildSession'
import { isMediaAlone, isRunning, keyOf, load, reload, useEntry } from './contents'
import { Locations } from './Locations'
import { stateInWords } from './words'

const Loaded = later(() => import('./Loaded'))
const Foot = later(() => import('./Foot'))
const RawOutput = later(() => import('./RawOutput'))

/** What an opened card shows. */
export function Body({ message, call }: { message: Message; call: ToolCall }) {
  return (
    <>
      <Locations locations={call.locations} />
      <Content message={message} call={call} />
      {call.rawOutput && <RawOutput id={message.id} output={call.rawOutput} />}
      {call.childSession && <ChildSession session={call.childSession} />}
    </>
  )
}

function Content({ message, call }: { message: Message; call: ToolCall }) {
  const key = keyOf(message, call)
  const entry = useEntry(key)
  const nothing = call.contentSize === null && call.rawInput === null
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for all of the message that matters here.
  useEffect(() => {
    if (!nothing && !entry) load(message, call)
  }, [nothing, key, entry])
  const words = stateInWords(call)
  if (nothing) return <p className="note">{words ?? 'No output.'}</p>
  if (entry?.state === 'failed') {
    return (
      <Failure
        reason={`The tool content could not be loaded. ${entry.reason}`}
        retry={() => load(message, call)}
      />
    )
  }
  if (entry?.state !== 'ready') return <Loading />
  return (
    <>
      <Loaded key={key} message={message} call={call} content={entry.content} fallback={<Loading />} />
      {isRunning(call) && call.contentSize !== null && <StillRunning reload={() => reload(message, call)} />}
      {words && <p className="note warning">{words}</p>}
      {call.contentSize !== null && (
        <Foot
          key={`foot ${key}`}
          message={message}
          call={call}
          inParts={entry.content.lines !== null && !isMediaAlone(entry.content)}
        />
      )}
    </>
  )
}

function Loading() {
  return (
    <p role="status" className="note loading">
      Loading tool content
    </p>
  )
}

function StillRunning({ reload }: { reload: () => void }) {
  return (
    <p className="note">
      Still running: this is what there was when it was loaded. It is loaded again when the call ends.{' '}
      <button type="button" className="quiet" onClick={reload}>
        <RotateCw size={13} aria-hidden /> Load now
      </button>
    </p>
  )
}
