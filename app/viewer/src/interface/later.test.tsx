import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { later } from './later'

function Greeting({ name }: { name: string }) {
  return <p>Hello, {name}</p>
}

test('what comes later has a fallback until it is there, and none from then on', async () => {
  let come: (module: { default: typeof Greeting }) => void = () => undefined
  const load = vi.fn(() => new Promise<{ default: typeof Greeting }>((resolve) => (come = resolve)))
  const Later = later(load)
  const { unmount } = render(<Later name="Ada" fallback={<p>soon</p>} />)
  expect(screen.getByText('soon')).toBeTruthy()
  // In the same turn: nothing holds it back.
  await act(async () => come({ default: Greeting }))
  expect(screen.getByText('Hello, Ada')).toBeTruthy()
  expect(screen.queryByText('soon')).toBeNull()
  unmount()
  render(<Later name="Grace" fallback={<p>soon</p>} />)
  expect(screen.getByText('Hello, Grace')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(1)
})

test('what does not come is told in its place, and asked for again on request, for all places at once', async () => {
  const load = vi.fn<() => Promise<{ default: typeof Greeting }>>()
  load.mockRejectedValueOnce(new Error('no such file'))
  const Later = later(load)
  render(
    <>
      <Later name="Ada" fallback={<p>soon</p>} />
      <Later name="Grace" fallback={<p>soon</p>} />
    </>,
  )
  const failures = await screen.findAllByRole('alert')
  expect(failures.map((one) => one.textContent)).toEqual(Array(2).fill(expect.stringContaining('could not')))
  expect(screen.queryByText('soon')).toBeNull()
  expect(load).toHaveBeenCalledTimes(1)
  load.mockResolvedValueOnce({ default: Greeting })
  await userEvent.click(screen.getAllByRole('button', { name: 'Retry' })[0] as HTMLElement)
  expect(await screen.findByText('Hello, Ada')).toBeTruthy()
  expect(screen.getByText('Hello, Grace')).toBeTruthy()
  expect(screen.queryByRole('alert')).toBeNull()
  expect(load).toHaveBeenCalledTimes(2)
})

test('what did not come is asked for again where it is shown next', async () => {
  const load = vi.fn<() => Promise<{ default: typeof Greeting }>>()
  load.mockRejectedValueOnce(new Error('no such file'))
  load.mockResolvedValueOnce({ default: Greeting })
  const Later = later(load, ({ name }) => <p>{name}, without a greeting</p>)
  render(<Later name="Ada" />)
  expect(await screen.findByText('Ada, without a greeting')).toBeTruthy()
  render(<Later name="Grace" />)
  expect(await screen.findByText('Hello, Grace')).toBeTruthy()
  expect(screen.getByText('Hello, Ada')).toBeTruthy()
})
