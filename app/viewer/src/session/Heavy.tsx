import { useCallback, useEffect, useState } from 'react'
import { KindIcon } from '../card/KindIcon'
import { request } from '../graphql/client'
import { type Breakdown, HeavyQuery } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { counted, size } from '../interface/format'
import { Named } from '../interface/Named'
import { visible } from '../interface/visible'
import { AddingUp } from './HeavyPanel'

interface Props {
  id: string
  jump: (sequence: number) => void
}

/** Where a session's bytes are: by tool, and the largest outputs, each a link to its message. */
export default function Heavy({ id, jump }: Props) {
  const [found, setFound] = useState<Breakdown | null>(null)
  const [reason, setReason] = useState<string | null>(null)
  const load = useCallback(() => {
    setReason(null)
    request(HeavyQuery, { id }).then(
      ({ session }) => {
        setFound(session?.contentBreakdown ?? null)
        if (!session) setReason('The session is not there any more.')
        else if (!session.contentBreakdown) setReason('The server did not tell its sizes.')
      },
      (error: Error) => setReason(error.message),
    )
  }, [id])
  useEffect(load, [load])
  return (
    <>
      {reason && <Failure reason={reason} retry={load} />}
      {!found && !reason && <AddingUp />}
      {found && <Tools found={found} />}
      {found && <Outputs found={found} id={id} jump={jump} />}
    </>
  )
}

function Tools({ found }: { found: Breakdown }) {
  if (!found.tools.length) return <p className="note">No tool was called.</p>
  const sums = found.tools.map((tool) => tool.contentSize + tool.rawInputSize + tool.rawOutputSize)
  const most = Math.max(1, ...sums)
  return (
    <section aria-label="Bytes by tool">
      <h3>By tool</h3>
      <ul>
        {found.tools.map((tool, index) => (
          <li key={`${tool.name} ${tool.kind}`} className="bar">
            <span className="label">
              <KindIcon kind={tool.kind} />
              <span className="name">{visible(tool.name ?? tool.kind.toLowerCase())}</span>
              <span className="calls">{counted(tool.callCount, 'call')}</span>
              <span className="size">{size(sums[index] as number)}</span>
            </span>
            <Bar
              parts={[
                ['output', tool.contentSize],
                ['input', tool.rawInputSize],
                ['raw', tool.rawOutputSize],
              ]}
              most={most}
            />
          </li>
        ))}
      </ul>
      <p className="legend" aria-hidden>
        <span className="of-output">output</span>
        <span className="of-input">input</span>
        <span className="of-raw">recorded result</span>
      </p>
      {found.toolCount > found.tools.length && (
        <p className="note">and {counted(found.toolCount - found.tools.length, 'lighter tool')}</p>
      )}
    </section>
  )
}

function Outputs({ found, id, jump }: { found: Breakdown; id: string; jump: Props['jump'] }) {
  if (!found.largestOutputs.length) return null
  const most = Math.max(1, ...found.largestOutputs.map((output) => output.contentSize + output.rawOutputSize))
  return (
    <section aria-label="Largest outputs">
      <h3>Largest outputs</h3>
      <ol>
        {found.largestOutputs.map((output) => (
          <li key={output.messageId} className="bar">
            <a
              href={`/sessions/${id}#m${output.sequence}`}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                jump(output.sequence)
              }}
            >
              <span className="label">
                <KindIcon kind={output.kind} />
                <span className="name">
                  <Named name={output.title ?? output.name ?? output.toolCallId} />
                </span>
                <span className="calls">#{output.sequence}</span>
                <span className="size">{size(output.contentSize + output.rawOutputSize)}</span>
              </span>
              <Bar
                parts={[
                  ['output', output.contentSize],
                  ['raw', output.rawOutputSize],
                ]}
                most={most}
              />
            </a>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Bar({ parts, most }: { parts: [string, number][]; most: number }) {
  return (
    <span className="track" aria-hidden>
      {parts
        .filter(([, bytes]) => bytes > 0)
        .map(([name, bytes]) => (
          <span key={name} className={`of-${name}`} style={{ inlineSize: `${(100 * bytes) / most}%` }} />
        ))}
    </span>
  )
}
