import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { fetchText } from '../card/contents'
import type { ToolCall } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { unfenced } from './fence'
import { JsonTree } from './JsonTree'
import { parseJson, unnumbered } from './Text'

/** A text of more characters is shown by lines alone: reading it would keep the page busy. */
const MOST_CHARACTERS = 1_000_000

interface Props {
  id: string
  call: ToolCall
  /** The same by lines, shown until all of it has been asked for and read. */
  children: ReactNode
}

/** A large JSON text, of which all is read when it is asked for as a tree. */
export function AsTree({ id, call, children }: Props) {
  const [asked, setAsked] = useState(false)
  /** Undefined until it has been read; null where it is not JSON. */
  const [value, setValue] = useState<object | null>()
  const [reason, setReason] = useState<string | null>(null)
  const read = useCallback(() => {
    setReason(null)
    fetchText(id).then(
      (text) => {
        const inner = unfenced(text, call)
        setValue(parseJson(unnumbered(inner)?.text ?? inner, MOST_CHARACTERS) ?? null)
      },
      (error: Error) => setReason(error.message),
    )
  }, [id, call])
  useEffect(() => {
    if (asked && value === undefined) read()
  }, [asked, value, read])
  return (
    <>
      <button type="button" className="quiet switch" aria-pressed={asked} onClick={() => setAsked(!asked)}>
        Tree
      </button>
      {asked && value === undefined && !reason && (
        <p role="status" className="note">
          Reading all of it
        </p>
      )}
      {asked && reason && <Failure reason={`It could not be read. ${reason}`} retry={read} />}
      {asked && value === null && <p className="note">It is not one JSON value, so that it has no tree.</p>}
      {asked && value ? (
        <div className="tree">
          <JsonTree value={value} />
        </div>
      ) : (
        children
      )}
    </>
  )
}

/** Whether an output that is told to be JSON may be asked for as a tree. */
export function mayBeTree(language: string, call: ToolCall): boolean {
  return language === 'json' && (call.contentSize ?? 0) <= MOST_CHARACTERS
}
