import { useCallback, useState } from 'react'
import { existing, type Slice, Slices } from '../content/Slices'
import { request } from '../graphql/client'
import { type ToolCall, ToolOutputQuery } from '../graphql/documents'
import { size } from '../interface/format'

interface Props {
  id: string
  output: NonNullable<ToolCall['rawOutput']>
}

/** What the agent recorded beside the content, shown on request. */
export default function RawOutput({ id, output }: Props) {
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
      {open && <Slices key={output.hash} read={read} language="json" label="Recorded result" />}
    </>
  )
}
