import { act, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { Boundary } from './Boundary'
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

test('what cannot come is told by the boundary around it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const Later = later<{ name: string }>(() => Promise.reject(new Error('no such file')))
  render(
    <Boundary fallback={<p>It could not be drawn.</p>}>
      <Later name="Ada" />
    </Boundary>,
  )
  expect(await screen.findByText('It could not be drawn.')).toBeTruthy()
})
