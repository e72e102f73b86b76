import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test, vi } from 'vitest'
import { request } from '../graphql/client'
import { setOpened } from '../interface/opened'
import { listed, pageOf } from '../testing/sessions'
import { SessionRow } from './SessionRow'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
}))

const asked = vi.mocked(request)
const parent = listed('parent', { children: { totalCount: 2 } })
const page = (id: string, cursor: string | null = null) =>
  ({ session: { children: pageOf([listed(id)], cursor).sessions } }) as never

beforeEach(() => {
  asked.mockReset()
  setOpened('children parent', true)
})

test('sub-agents of a session that is gone are told to be, and asked for again on request', async () => {
  asked.mockResolvedValueOnce({ session: null } as never)
  render(<SessionRow session={parent} />)
  expect((await screen.findByRole('alert')).textContent).toContain('The session is not there any more.')
  asked.mockResolvedValueOnce(page('a'))
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByRole('link', { name: /Session a/ })).toBeTruthy()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('two quick clicks ask for one further page of sub-agents', async () => {
  asked.mockResolvedValueOnce(page('a', 'c1'))
  render(<SessionRow session={parent} />)
  const more = await screen.findByRole('button', { name: 'Show more sub-agents' })
  let answer: (value: never) => void = () => undefined
  asked.mockReturnValue(new Promise((resolve) => (answer = resolve)) as never)
  await userEvent.dblClick(more)
  answer(page('b'))
  expect(await screen.findByRole('link', { name: /Session b/ })).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(2)
})
