import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { follow, isConnected, request, watchConnection } from '../graphql/client'
import { listed, pageOf } from '../testing/sessions'
import { Sessions } from './store'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
  follow: vi.fn(),
  isConnected: vi.fn(),
  watchConnection: vi.fn(),
}))

const asked = vi.mocked(request)
const watched = vi.mocked(watchConnection)
const FILTER = { project: null, title: '', agent: '', status: null }
let stop: () => void

function start(): Sessions {
  const sessions = new Sessions(FILTER)
  stop = sessions.start()
  return sessions
}

const connect = () => watched.mock.calls.at(-1)?.[0]()

beforeEach(() => {
  vi.useFakeTimers()
  asked.mockReset()
  asked.mockResolvedValue(pageOf([listed('a')]) as never)
  vi.mocked(follow).mockReturnValue(() => undefined)
  vi.mocked(isConnected).mockReturnValue(false)
  watched.mockReset()
  watched.mockReturnValue(() => undefined)
})

afterEach(() => {
  stop()
  vi.useRealTimers()
})

test('the sessions are asked for once, when their changes are told', async () => {
  const sessions = start()
  expect(asked).not.toHaveBeenCalled()
  expect([sessions.loading, sessions.answered]).toEqual([true, false])
  connect()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sessions.rows.map((row) => row.id)).toEqual(['a'])
  expect(asked).toHaveBeenCalledTimes(1)
})

test('they are asked for at once where there is a connection already', async () => {
  vi.mocked(isConnected).mockReturnValue(true)
  const sessions = start()
  await vi.advanceTimersByTimeAsync(0)
  expect(sessions.rows.map((row) => row.id)).toEqual(['a'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a connection that takes long is not waited for, and what it may have missed is read then', async () => {
  const sessions = start()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sessions.rows.map((row) => row.id)).toEqual(['a'])
  asked.mockResolvedValue(pageOf([listed('b'), listed('a')]) as never)
  connect()
  await vi.advanceTimersByTimeAsync(0)
  expect(sessions.rows.map((row) => row.id)).toEqual(['b', 'a'])
  expect(asked).toHaveBeenCalledTimes(2)
})

test('a project that is not there has no sessions, and is no failure', async () => {
  vi.mocked(isConnected).mockReturnValue(true)
  asked.mockResolvedValue({ project: null } as never)
  const sessions = new Sessions({ ...FILTER, project: 'gone' })
  stop = sessions.start()
  await vi.advanceTimersByTimeAsync(0)
  const { problem, answered, rows, hasMore, projectIsAbsent } = sessions
  expect({ problem, answered, rows, hasMore, projectIsAbsent }).toEqual({
    problem: null,
    answered: true,
    rows: [],
    hasMore: false,
    projectIsAbsent: true,
  })
})

test('who leaves before there is a connection asks for nothing', async () => {
  start()
  stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).not.toHaveBeenCalled()
})
