import { render, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { follow, isConnected, request } from '../graphql/client'
import { listed, pageOf } from '../testing/sessions'
import SessionList from './SessionList'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
  follow: vi.fn(),
  isConnected: vi.fn(),
}))

const asked = vi.mocked(request)

beforeEach(() => {
  vi.mocked(follow).mockReturnValue(() => undefined)
  vi.mocked(isConnected).mockReturnValue(true)
})

test('what loads on looks out for a person once the rows above it are drawn', async () => {
  // The browser of these tests does not know all elements.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const rowsAbove: number[] = []
  const observer = {
    observe: () => rowsAbove.push(document.querySelectorAll('a.open').length),
    disconnect: () => undefined,
  }
  vi.stubGlobal('IntersectionObserver', function observe() {
    return observer
  })
  const first = Array.from({ length: 50 }, (_, index) => listed(`s${index}`))
  asked.mockResolvedValue({ ...pageOf(first, 'c50'), projects: pageOf([]).sessions } as never)
  render(<SessionList />)
  expect(await screen.findAllByRole('link', { name: /Session s/ })).toHaveLength(50)
  await waitFor(() => expect(rowsAbove.length).toBeGreaterThan(0))
  expect(rowsAbove.every((rows) => rows === 50)).toBe(true)
})
