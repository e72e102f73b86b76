import { useCallback, useState } from 'react'
import { Code } from '../content/Code'
import { JsonTree } from '../content/JsonTree'
import { Slices } from '../content/Slices'
import { request } from '../graphql/client'
import { type ToolCall, ToolInputQuery } from '../graphql/documents'
import { CopyButton } from '../interface/CopyButton'
import { size } from '../interface/format'
import { visible } from '../interface/visible'

/** What a tool was called with: a command or a path by itself, the rest as a tree. */
export function Input({ id, call, value }: { id: string; call: ToolCall; value: unknown }) {
  const [asked, setAsked] = useState(false)
  const read = useCallback(
    async (offset: number) => {
      const answer = await request(ToolInputQuery, { id, offset })
      const slice = answer.message?.toolMetadata?.rawInput?.slice
      if (!slice) throw new Error('The input is not there any more.')
      return slice
    },
    [id],
  )
  if (!call.rawInput) return null
  if (value === undefined) {
    return (
      <section className="input" aria-label="Input">
        <h4>Input</h4>
        {asked ? (
          <Slices read={read} language="json" label="Input" />
        ) : (
          <button type="button" className="more" onClick={() => setAsked(true)}>
            Show the input ({size(call.rawInput.size)})
          </button>
        )}
      </section>
    )
  }
  return (
    <section className="input" aria-label="Input">
      <h4>
        Input <CopyButton text={() => JSON.stringify(value, null, 2)} label="Copy input" />
      </h4>
      <Value call={call} value={value} />
    </section>
  )
}

function Value({ call, value }: { call: ToolCall; value: unknown }) {
  if (!isObject(value)) return <JsonTree value={value} />
  const { command, ...rest } = value
  if (typeof command !== 'string') return <Arguments call={call} value={value} />
  return (
    <>
      <Code text={command} language="bash" label="Command" />
      <Arguments call={call} value={rest} />
    </>
  )
}

/** One line for each short argument; what an edit's diff shows is left out. */
function Arguments({ call, value }: { call: ToolCall; value: Record<string, unknown> }) {
  const shownByDiff =
    call.kind === 'EDIT' ? ['old_string', 'new_string', 'content', 'new_str', 'old_str'] : []
  const entries = Object.entries(value).filter(([name]) => !shownByDiff.includes(name))
  if (!entries.length) return null
  return (
    <dl>
      {entries.map(([name, argument]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            {argument !== null && typeof argument === 'object' ? (
              <JsonTree value={argument} depth={1} />
            ) : (
              <Short value={argument} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Short({ value }: { value: unknown }) {
  const text = String(value)
  if (text.length > 400 || text.includes('\n')) return <JsonTree value={value} />
  return <code>{visible(text)}</code>
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
