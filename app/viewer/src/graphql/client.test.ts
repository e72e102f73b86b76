import { afterEach, expect, test, vi } from 'vitest'
import { request } from './client'
import { ProjectsQuery } from './documents'

afterEach(() => {
  vi.unstubAllGlobals()
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
