import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { request } from '../graphql/client'
import Heavy from './Heavy'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
}))

const asked = vi.mocked(request)
const show = () => render(<Heavy id="s" jump={() => undefined} />)

test.each([
  [{ session: null }, 'The session is not there any more.'],
  [{ session: { contentBreakdown: null } }, 'The server did not tell its sizes.'],
])('sizes that are not told are not added up for ever: %o', async (answer, reason) => {
  asked.mockReset()
  asked.mockResolvedValueOnce(answer as never)
  show()
  expect(screen.getByRole('status').textContent).toBe('Adding up sizes')
  expect((await screen.findByRole('alert')).textContent).toContain(reason)
  expect(screen.queryByRole('status')).toBeNull()
  asked.mockResolvedValueOnce({
    session: { contentBreakdown: { tools: [], toolCount: 0, largestOutputs: [] } },
  } as never)
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  expect(asked).toHaveBeenCalledTimes(2)
})
