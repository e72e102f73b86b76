import { Download, RotateCw } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { type Slice, Slices } from '../content/Slices'
import { request } from '../graphql/client'
import { type Message, type ToolCall, ToolOutputQuery, ToolSliceQuery } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { size } from '../interface/format'
import { ChildSession } from './ChildSession'
import { isRunning, keyOf, load, reload, useEntry, WHOLE_BYTES } from './contents'
import { Locations } from './Locations'
import { stateInWords } from './words'

const Loaded = lazy(() => import('./Loaded'))

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
    <Suspense fallback={<Loading />}>
      <Loaded message={message} call={call} content={entry.content} />
      {isRunning(call) && call.contentSize !== null && <StillRunning reload={() => reload(message, call)} />}
      {words && <p className="note warning">{words}</p>}
      {call.contentSize !== null && <Foot message={message} call={call} />}
    </Suspense>
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

/** What is stored, byte for byte: shown on request, or as a file. */
function Foot({ message, call }: { message: Message; call: ToolCall }) {
  const [raw, setRaw] = useState(false)
  const read = useCallback(
    async (offset: number): Promise<Slice> => {
      const answer = await request(ToolSliceQuery, { id: message.id, offset })
      return existing(answer.message?.toolMetadata?.contentSlice)
    },
    [message.id],
  )
  return (
    <>
      <p className="foot">
        <button type="button" className="quiet" aria-expanded={raw} onClick={() => setRaw(!raw)}>
          Stored JSON
        </button>
        {call.contentUrl && (
          <a className="quiet button" href={call.contentUrl} download={`${call.toolCallId}.json`}>
            <Download size={13} aria-hidden /> Download {size(call.contentSize ?? 0)}
          </a>
        )}
        {(call.contentSize ?? 0) > WHOLE_BYTES && <span>Shown in parts, because it is large.</span>}
      </p>
      {raw && <Slices read={read} language="json" label="Stored JSON" />}
    </>
  )
}

function RawOutput({ id, output }: { id: string; output: NonNullable<ToolCall['rawOutput']> }) {
  const [open, setOpen] = useState(false)
  const read = useCallback(
    async (offset: number): Promise<Slice> => {
      const answer = await request(ToolOutputQuery, { id, offset })
      return existing(answer.message?.toolMetadata?.rawOutput?.slice)
    },
    [id],
  )
  return (
    <>
      <p className="foot">
        <button type="button" className="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          Result as the agent recorded it, {size(output.size)}
        </button>
      </p>
      {open && <Slices read={read} language="json" label="Recorded result" />}
    </>
  )
}

function existing(slice: Slice | null | undefined): Slice {
  if (!slice) throw new Error('It is not there any more.')
  return slice
}
