import { ArrowLeft, ChartBarBig, CircleHelp } from 'lucide-react'
import { type FormEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { OpenSession } from '../graphql/documents'
import { beginning, namedMessage, placeBefore, type SessionPlace } from '../interface/address'
import { Connection } from '../interface/Connection'
import { Failure } from '../interface/Failure'
import { focusField } from '../interface/focus'
import { count, counted, fully, roughly, size } from '../interface/format'
import { Help } from '../interface/Help'
import { go, Link, useNamedMessage, usePlace, useVisit } from '../interface/navigation'
import { useShortcuts } from '../interface/shortcuts'
import { visible } from '../interface/visible'
import { StatusMark } from '../sessions/StatusMark'
import { HeavyPanel } from './HeavyPanel'
import { Messages, type MessagesHandle, walking } from './Messages'
import { useTranscript } from './useTranscript'

/** One session: its head, its messages, and beside them what is heavy. */
export default function Session({ id }: { id: string }) {
  const [start] = useState(beginning)
  const [returning] = useState(() => placeBefore<SessionPlace>())
  const transcript = useTranscript(id, start)
  const messages = useRef<MessagesHandle>(null)
  const jumpField = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const [heavy, setHeavy] = useState(false)
  const heavyButton = useRef<HTMLButtonElement>(null)
  const named = useNamedMessage()
  const title = transcript.session?.title
  useEffect(() => {
    document.title = title ? `${visible(title)} · Toolfold` : 'Toolfold'
  }, [title])
  const visit = useVisit()
  const visited = useRef(visit)
  useEffect(() => {
    const place = visited.current === visit ? null : placeBefore<SessionPlace>()
    visited.current = visit
    if (place) messages.current?.restore(place)
    else if (named) messages.current?.jump(named)
  }, [named, visit])
  const notePlace = usePlace(
    useCallback(
      (): SessionPlace =>
        messages.current?.place() ?? returning ?? { sequence: start, top: 0, current: null },
      [start, returning],
    ),
  )
  const keys = useMemo(
    () => ({
      ...walking(messages),
      '/': () => focusField(jumpField.current),
      '?': () => setHelp(true),
    }),
    [],
  )
  useShortcuts(keys)
  const closeHeavy = () => {
    setHeavy(false)
    heavyButton.current?.focus()
  }
  const jump = (sequence: number) => {
    if (namedMessage() === sequence) messages.current?.jump(sequence)
    else go(`/sessions/${id}#m${sequence}`)
  }
  return (
    <div className="page session">
      <header className="bar">
        <Link to="/" className="quiet button back" aria-label="All sessions">
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <div className="heading">
          <h1>{transcript.session ? visible(title ?? 'Untitled session') : 'Session'}</h1>
          {transcript.session && <Facts session={transcript.session} messages={transcript.count} />}
        </div>
        <JumpField ref={jumpField} last={transcript.count} jump={jump} />
        <button
          ref={heavyButton}
          type="button"
          className="quiet"
          aria-expanded={heavy}
          onClick={() => setHeavy(!heavy)}
        >
          <ChartBarBig size={16} aria-hidden /> <span className="wide-only">What is heavy</span>
          <span className="unseen narrow-only">What is heavy here</span>
        </button>
        <button type="button" className="quiet" onClick={() => setHelp(true)} aria-label="Keyboard help">
          <CircleHelp size={16} aria-hidden />
        </button>
      </header>
      <Connection />
      <div className="columns">
        <main tabIndex={-1} onFocus={notePlace}>
          {transcript.state === 'opening' && <Opening />}
          {transcript.state === 'failed' && (
            <Failure
              reason={`The session could not be loaded. ${transcript.problem}`}
              retry={() => void transcript.open(start)}
            />
          )}
          {transcript.state === 'absent' && (
            <p className="empty">
              There is no such session, or it may not be read. <Link to="/">All sessions</Link>
            </p>
          )}
          {transcript.state === 'open' && named !== null && named > transcript.count && (
            <p role="status" className="banner">
              There is no message {count(named)}:{' '}
              {transcript.count ? `the last is ${count(transcript.count)}.` : 'there is none yet.'}
            </p>
          )}
          {(transcript.state === 'open' || transcript.state === 'deleted') && (
            <Messages
              ref={messages}
              transcript={transcript}
              start={start}
              returning={returning}
              address={`/sessions/${id}`}
              moved={notePlace}
            />
          )}
        </main>
        {heavy && <HeavyPanel id={id} jump={jump} close={closeHeavy} />}
      </div>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  )
}

function Facts({ session, messages }: { session: OpenSession; messages: number }) {
  const { usage, parent } = session
  return (
    <p className="facts" title={`Last change: ${fully(session.updatedAt)}`}>
      <StatusMark status={session.status} />
      <span>{visible(session.agent)}</span>
      {session.cwd && (
        <span className="path">
          {visible(session.cwd)}
          {session.gitBranch && <span className="branch"> on {visible(session.gitBranch)}</span>}
        </span>
      )}
      <span>{counted(messages, 'message')}</span>
      <span>{counted(session.toolCallCount, 'tool call')}</span>
      <span>{size(session.contentSize)} of output</span>
      {usage && (
        <span
          title={`${count(usage.cacheReadTokens)} read from the cache, ${count(usage.cacheCreationTokens)} written to it`}
        >
          {roughly(usage.inputTokens)} tokens in, {roughly(usage.outputTokens)} out
        </span>
      )}
      {parent && (
        <span>
          sub-agent of <Link to={`/sessions/${parent.id}`}>{visible(parent.title ?? 'a session')}</Link>
        </span>
      )}
    </p>
  )
}

interface JumpProps {
  last: number
  jump: (sequence: number) => void
  ref: React.Ref<HTMLInputElement>
}

function JumpField({ last, jump, ref }: JumpProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const field = event.currentTarget.elements.namedItem('sequence') as HTMLInputElement
    const sequence = Number(field.value.replace(/[#\s,]/g, ''))
    if (Number.isInteger(sequence) && sequence >= 1) {
      jump(Math.min(sequence, last))
      field.value = ''
      field.blur()
    } else if (field.value) {
      field.setCustomValidity(`A number from 1 to ${count(last)}, please.`)
      field.reportValidity()
    }
  }
  return (
    <form className="jump" onSubmit={submit}>
      <input
        ref={ref}
        name="sequence"
        inputMode="numeric"
        autoComplete="off"
        aria-label={`Go to message, 1 to ${count(last)}`}
        placeholder={last ? `Go to 1–${count(last)}` : 'Go to'}
        onInput={(event) => event.currentTarget.setCustomValidity('')}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
    </form>
  )
}

/** Rows where messages will be. */
function Opening() {
  return (
    <div className="messages" role="status" aria-label="Loading the session">
      <div className="list">
        {Array.from({ length: 8 }, (_, index) => (
          <div key={index} className="row placeholder" />
        ))}
      </div>
    </div>
  )
}
