import { useCallback, useEffect, useRef, useState } from 'react'
import { Failure } from '../interface/Failure'
import { size } from '../interface/format'
import { Code } from './Code'

export interface Slice {
  text: string | null
  nextOffset: number | null
  totalSize: number
}

/** Return a slice that was asked for, or say that there is none. */
export function existing(slice: Slice | null | undefined): Slice {
  if (!slice) throw new Error('It is not there any more.')
  return slice
}

interface Props {
  /** Reads the stored text from a byte on. */
  read: (offset: number) => Promise<Slice>
  language: string
  label: string
}

/** Stored text of any size, piece by piece. */
export function Slices({ read, language, label }: Props) {
  const [parts, setParts] = useState<readonly Slice[]>([])
  const [reason, setReason] = useState<string | null>(null)
  const busy = useRef(false)
  const last = parts[parts.length - 1]
  const load = useCallback(
    (offset: number) => {
      if (busy.current) return
      busy.current = true
      setReason(null)
      read(offset)
        .then(
          (part) => setParts((known) => [...known, part]),
          (error: Error) => setReason(error.message),
        )
        .finally(() => {
          busy.current = false
        })
    },
    [read],
  )
  useEffect(() => load(0), [load])
  const offset = last ? last.nextOffset : 0
  return (
    <>
      {last && (
        <Code
          text={parts.map((part) => part.text ?? '(not text)').join('')}
          language={language}
          label={label}
          copyLabel={last.nextOffset === null ? undefined : `Copy the first ${size(last.nextOffset)}`}
        />
      )}
      {!last && !reason && (
        <p role="status" className="note">
          Loading
        </p>
      )}
      {reason && <Failure reason={reason} retry={() => load(offset ?? 0)} />}
      {last && last.nextOffset !== null && !reason && (
        <button type="button" className="more" onClick={() => load(last.nextOffset as number)}>
          Show more: {size(last.nextOffset)} of {size(last.totalSize)}
        </button>
      )}
    </>
  )
}
