import { afterEach, expect, test, vi } from 'vitest'
import { request } from './client'
import { ProjectsQuery } from './documents'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

async function reasonAfter(answer: () => Promise<Response>): Promise<string> {
  vi.stubGlobal('fetch', answer)
  return request(ProjectsQuery, { after: null }).then(
    () => 'none',
    (error: Error) => error.message,
  )
}

function responding(body: string, type: string, status = 200) {
  return async () => new Response(body, { status, headers: { 'content-type': type } })
}

test('a server that answers nothing is out of reach', async () => {
  const reason = await reasonAfter(() => Promise.reject(new TypeError('Failed to fetch')))
  expect(reason).toBe('The server could not be reached.')
})

test.each([
  ['text/plain', 'Internal Server Error'],
  ['text/html', '<h1>It broke</h1>'],
  ['application/json', '{"detail": "It broke"}'],
  ['application/json', ''],
])('a status that is an error is told, with %s %s', async (type, body) => {
  const reason = await reasonAfter(responding(body, type, 500))
  expect(reason).toBe('The server answered with status 500.')
})

test.each([
  ['text/html', '<h1>Log in</h1>'],
  ['application/json', '{"data"'],
  ['application/json', '{"data": null}'],
])('what is no answer of GraphQL could not be read, as %s', async (type, body) => {
  const reason = await reasonAfter(responding(body, type))
  expect(reason).toBe('The answer of the server could not be read.')
})

test('a reason that the server gives is told, whatever the status', async () => {
  const body = JSON.stringify({ data: null, errors: [{ message: 'It is being repaired.' }] })
  const reason = await reasonAfter(responding(body, 'application/json', 400))
  expect(reason).toBe('It is being repaired.')
})

/** What a browser does with a request: it breaks off when it is given up. */
function until<Value>(
  signal: AbortSignal | null | undefined,
  begin: (resolve: (value: Value) => void) => void,
) {
  return new Promise<Value>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
    begin(resolve)
  })
}

/** An answer of which a piece comes each so many milliseconds, the first of them after its head. */
function slowly(pieces: string[], milliseconds: number) {
  return (_: unknown, { signal }: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const piece = pieces.shift()
        if (piece === undefined) return controller.close()
        await until<void>(signal, (resolve) => setTimeout(resolve, milliseconds))
        controller.enqueue(new TextEncoder().encode(piece))
      },
    })
    return Promise.resolve(new Response(body))
  }
}

test('a server that says nothing is given up after a while', async () => {
  vi.useFakeTimers()
  const reason = reasonAfter(((_: unknown, { signal }: RequestInit) =>
    until<Response>(signal, () => undefined)) as never)
  let told = ''
  void reason.then((words) => {
    told = words
  })
  await vi.advanceTimersByTimeAsync(29_000)
  expect(told).toBe('')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toBe('The server has not answered for 30 seconds.')
})

test('an answer that stops half way is given up after a while', async () => {
  vi.useFakeTimers()
  const pieces = ['{"data": {"a"', ': "never comes"}}']
  const reason = reasonAfter(slowly(pieces, 40_000) as never)
  await vi.advanceTimersByTimeAsync(100_000)
  expect(await reason).toBe('The server has not answered for 30 seconds.')
})

test('a long answer may take long, as long as more of it comes', async () => {
  vi.useFakeTimers()
  const pieces = ['{"data": {"', 'ä'.repeat(10), '": ', '"a"}}']
  vi.stubGlobal('fetch', slowly(pieces, 20_000))
  const answer = request(ProjectsQuery, { after: null })
  await vi.advanceTimersByTimeAsync(100_000)
  expect(await answer).toEqual({ ääääääääää: 'a' })
  expect(vi.getTimerCount()).toBe(0)
})

test('an answer that breaks off could not be read', async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('network error')) })
  const reason = await reasonAfter(async () => new Response(body))
  expect(reason).toBe('The answer of the server could not be read.')
})
