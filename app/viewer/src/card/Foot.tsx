import { Download } from 'lucide-react'
import { useCallback, useState } from 'react'
import { existing, type Slice, Slices } from '../content/Slices'
import { request } from '../graphql/client'
import { type Message, type ToolCall, ToolSliceQuery } from '../graphql/documents'
import { size } from '../interface/format'

interface Props {
  message: Message
  call: ToolCall
  /** Whether what is shown above is not all of it. */
  inParts: boolean
}

/** What is stored, byte for byte: shown on request, or as a file. */
export default function Foot({ message, call, inParts }: Props) {
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
        {inParts && <span>Shown in parts, because it is large.</span>}
      </p>
      {raw && <Slices read={read} language="json" label="Stored JSON" />}
    </>
  )
}
