import { beforeEach, expect, test, vi } from 'vitest'
import { proseInTime, proseWhenIdle } from '../content/Prose'
import { follow, RequestError, request } from '../graphql/client'
import { message, toolCall } from '../testing/messages'
import { fold, describe as inWords } from './folding'
import { Transcript } from './transcript'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
  follow: vi.fn(),
}))

vi.mock('../content/Prose', () => ({ proseInTime: vi.fn(), proseWhenIdle: vi.fn() }))

const asked = vi.mocked(request)
const followed = vi.mocked(follow)
type Tell = (data: unknown) => void

function session(count: number) {
  return { id: 's', title: 'T', messageCount: count, updatesCursor: 'c0', status: 'ACTIVE' }
}

function messages(from: number, to: number, revision = 1) {
  return Array.from({ length: to - from + 1 }, (_, index) => message({ sequence: from + index, revision }))
}

async function opened(count: number) {
  const first = Math.max(1, count - 63)
  asked.mockResolvedValueOnce({
    session: { ...session(count), messages: { nodes: messages(first, count) } },
  } as never)
  const transcript = new Transcript('s')
  await transcript.open(null)
  const tell = followed.mock.calls[0]?.[2] as Tell
  const update = (changed: ReturnType<typeof message>, isNew: boolean) =>
    tell({
      sessionUpdates: {
        __typename: 'MessageUpdate',
        cursor: `c${changed.revision}`,
        isNew,
        message: { ...changed, session: { messageCount: count } },
      },
    })
  return { transcript, update }
}

function variables(): unknown {
  return followed.mock.calls[0]?.[1]()
}

beforeEach(() => {
  asked.mockReset()
  followed.mockReset()
  followed.mockReturnValue(() => undefined)
})

test('it opens at the end in one request and follows from there', async () => {
  const { transcript } = await opened(1000)
  expect(asked).toHaveBeenCalledTimes(1)
  expect(transcript.count).toBe(1000)
  expect(transcript.at(1000)?.sequence).toBe(1000)
  expect(transcript.at(1)).toBeUndefined()
  expect(variables()).toEqual({ id: 's', after: 'c0' })
})

test.each([
  ['ASSISTANT', true],
  ['USER', false],
] as const)(
  'what draws Markdown is there with the first text in it, or ahead of it: %s',
  async (role, now) => {
    vi.mocked(proseInTime).mockReset()
    vi.mocked(proseWhenIdle).mockReset()
    const nodes = [message({ role, content: 'Its words' })]
    asked.mockResolvedValueOnce({ session: { ...session(1), messages: { nodes } } } as never)
    await new Transcript('s').open(null)
    expect(vi.mocked(proseInTime)).toHaveBeenCalledTimes(now ? 1 : 0)
    expect(vi.mocked(proseWhenIdle)).toHaveBeenCalledTimes(now ? 0 : 1)
  },
)

test('a place far away loads its page once', async () => {
  const { transcript } = await opened(1000)
  asked.mockResolvedValue({ session: { messages: { nodes: messages(193, 256) } } } as never)
  transcript.need(200, 210)
  transcript.need(201, 211)
  await vi.waitFor(() => expect(transcript.at(200)).toBeDefined())
  transcript.need(200, 210)
  expect(asked).toHaveBeenCalledTimes(2)
  expect(asked.mock.calls[1]?.[1]).toMatchObject({ sequence: 225, count: 64 })
})

test('an update that overtakes its page is kept', async () => {
  const { transcript, update } = await opened(1000)
  let answer: (value: unknown) => void = () => undefined
  asked.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)) as never)
  transcript.need(1, 10)
  update(message({ sequence: 5, revision: 9, content: 'newer' }), false)
  answer({ session: { messages: { nodes: messages(1, 64) } } })
  await vi.waitFor(() => expect(transcript.at(6)).toBeDefined())
  expect(transcript.at(5)?.content).toBe('newer')
})

test('what comes at the end is counted, and the cursor moves on', async () => {
  const { transcript, update } = await opened(1000)
  update(message({ sequence: 1001, revision: 2 }), true)
  expect(transcript.count).toBe(1001)
  expect(variables()).toEqual({ id: 's', after: 'c2' })
})

test('a page that failed is told and loaded on request', async () => {
  const { transcript } = await opened(1000)
  asked.mockRejectedValueOnce(new Error('no way'))
  transcript.need(1, 10)
  await vi.waitFor(() => expect(transcript.problem).toBe('no way'))
  transcript.need(1, 10)
  expect(asked).toHaveBeenCalledTimes(2)
  asked.mockResolvedValueOnce({ session: { messages: { nodes: messages(1, 64) } } } as never)
  transcript.retry()
  await vi.waitFor(() => expect(transcript.at(1)).toBeDefined())
  expect(transcript.problem).toBeNull()
})

test('a page that an answer lacks is asked for once, and again on request', async () => {
  const { transcript } = await opened(1000)
  asked.mockResolvedValueOnce({ session: { messages: { nodes: messages(1, 40) } } } as never)
  transcript.need(1, 10)
  await vi.waitFor(() => expect(transcript.problem).toBe('They are not there any more.'))
  transcript.need(1, 10)
  expect(asked).toHaveBeenCalledTimes(2)
  asked.mockResolvedValueOnce({ session: { messages: { nodes: messages(41, 64) } } } as never)
  transcript.retry()
  await vi.waitFor(() => expect(transcript.at(64)).toBeDefined())
  expect(transcript.problem).toBeNull()
})

test('a session that is found gone is asked for no more, until a person does', async () => {
  const { transcript } = await opened(1000)
  asked.mockResolvedValueOnce({ session: null } as never)
  transcript.need(1, 10)
  await vi.waitFor(() => expect(transcript.state).toBe('deleted'))
  transcript.need(1, 890)
  expect(asked).toHaveBeenCalledTimes(2)
  expect(transcript.problem).toBe('The session is not there any more.')
  asked.mockResolvedValueOnce({ session: { messages: { nodes: messages(833, 896) } } } as never)
  transcript.retry()
  expect(asked).toHaveBeenCalledTimes(3)
  await vi.waitFor(() => expect(transcript.state).toBe('open'))
  expect(followed).toHaveBeenCalledTimes(2)
  asked.mockResolvedValueOnce({ session: { messages: { nodes: messages(1, 64) } } } as never)
  transcript.need(1, 10)
  await vi.waitFor(() => expect(transcript.at(1)).toBeDefined())
  expect(transcript.problem).toBeNull()
})

test('a session that was deleted is not asked for, and what of it is not there is told', async () => {
  const { transcript } = await opened(1000)
  const tell = followed.mock.calls[0]?.[2] as Tell
  tell({ sessionUpdates: { __typename: 'SessionDeleted', cursor: 'c1', deletedId: 's' } })
  transcript.need(950, 960)
  expect(transcript.problem).toBeNull()
  transcript.need(1, 10)
  expect(transcript.problem).toBe('The session is not there any more.')
  expect(asked).toHaveBeenCalledTimes(1)
})

test('what comes after a deletion and was read before it does not undo it', async () => {
  const { transcript } = await opened(1000)
  let answer: (value: unknown) => void = () => undefined
  asked.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)) as never)
  transcript.need(1, 10)
  const tell = followed.mock.calls[0]?.[2] as Tell
  tell({ sessionUpdates: { __typename: 'SessionDeleted', cursor: 'c1', deletedId: 's' } })
  answer({ session: { messages: { nodes: messages(1, 64) } } })
  await vi.waitFor(() => expect(transcript.at(1)).toBeDefined())
  expect(transcript.state).toBe('deleted')
})

test('updates that are refused each time are begun less and less often', async () => {
  vi.useFakeTimers()
  await opened(10)
  asked.mockResolvedValue({
    session: { ...session(10), messages: { nodes: messages(1, 10) } },
  } as never)
  const refuse = () => {
    // Once for the answer that bears the error, once for the end.
    followed.mock.lastCall?.[3]('It is not for you.')
    followed.mock.lastCall?.[3]('It is not for you.')
  }
  followed.mockImplementation(() => {
    queueMicrotask(refuse)
    return () => undefined
  })
  refuse()
  await vi.advanceTimersByTimeAsync(60_000)
  // After 1, 2, 4 and 8 seconds, then each 10.
  expect(asked).toHaveBeenCalledTimes(1 + 4 + 4)
  vi.useRealTimers()
})

test('pages that were left long ago are let go, the end never', async () => {
  const { transcript } = await opened(10_000)
  asked.mockImplementation((async (_: unknown, { sequence }: { sequence: number }) => ({
    session: { messages: { nodes: messages(sequence - 32, sequence + 31) } },
  })) as never)
  for (let page = 0; page < 100; page++) {
    const first = page * 64 + 1
    transcript.need(first, first)
    await vi.waitFor(() => expect(transcript.at(first)).toBeDefined(), { interval: 1 })
  }
  expect(transcript.at(1)).toBeUndefined()
  expect(transcript.at(99 * 64 + 1)).toBeDefined()
  expect(transcript.at(10_000)).toBeDefined()
})

test('three finished reads and searches fold into one line, and nothing else does', () => {
  const read = (
    sequence: number,
    kind: 'READ' | 'SEARCH' | 'EXECUTE' = 'READ',
    status: 'COMPLETED' | 'FAILED' = 'COMPLETED',
  ) => message({ sequence, toolMetadata: toolCall({ kind, status }) })
  const page = [
    read(1),
    read(2, 'SEARCH'),
    read(3),
    read(4, 'EXECUTE'),
    read(5),
    read(6),
    read(7, 'READ', 'FAILED'),
  ]
  const folds = fold(page)
  expect([...folds.keys()]).toEqual([1, 2, 3])
  expect(inWords(folds.get(2) ?? [])).toBe('Read 2 files, searched 1 time')
})

test('a long run folds into several lines, so that no line hides too much', () => {
  const run = Array.from({ length: 30 }, (_, index) =>
    message({ sequence: index + 1, toolMetadata: toolCall({ kind: 'READ' }) }),
  )
  const heads = new Set([...fold(run).values()].map((members) => members[0]?.sequence))
  expect([...heads]).toEqual([1, 13, 25])
})

test('a session that could not be had is asked for until it is there', async () => {
  vi.useFakeTimers()
  asked.mockRejectedValueOnce(new RequestError('The server could not be reached.'))
  asked.mockRejectedValueOnce(new RequestError('The server answered with status 502.'))
  asked.mockResolvedValueOnce({ session: { ...session(1), messages: { nodes: [message()] } } } as never)
  const transcript = new Transcript('s')
  await transcript.open(null)
  expect(transcript.state).toBe('failed')
  await vi.runAllTimersAsync()
  expect(asked).toHaveBeenCalledTimes(3)
  expect(transcript.state).toBe('open')
  expect(transcript.problem).toBeNull()
  vi.useRealTimers()
})

test('a session that is asked for anew while it is asked for is asked for again once, not twice', async () => {
  vi.useFakeTimers()
  const gone = new RequestError('The server could not be reached.')
  const tries: ((error: Error) => void)[] = []
  asked.mockImplementation(() => new Promise((_, reject) => tries.push(reject)))
  const transcript = new Transcript('s')
  const opening = [transcript.open(null), transcript.open(null)]
  for (const fail of tries) fail(gone)
  await Promise.all(opening)
  expect(transcript.state).toBe('failed')
  await vi.runAllTimersAsync()
  expect(tries).toHaveLength(3)
  transcript.close()
  vi.useRealTimers()
})

test.each([
  ['was refused', new RequestError('It is not for you.', 'FORBIDDEN'), () => undefined],
  ['is left', new RequestError('The server could not be reached.'), (left: Transcript) => left.close()],
])('a session that %s is not asked for again', async (_, reason, then) => {
  vi.useFakeTimers()
  asked.mockRejectedValueOnce(reason)
  const transcript = new Transcript('s')
  await transcript.open(null)
  then(transcript)
  await vi.runAllTimersAsync()
  expect(asked).toHaveBeenCalledTimes(1)
  vi.useRealTimers()
})
