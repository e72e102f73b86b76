import { act, fireEvent, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, test, vi } from 'vitest'
import { PictureFile, Sound } from './Media'

afterEach(() => {
  vi.unstubAllGlobals()
})

const URL = '/api/projects/default/blobs/sha256:a'
const picture = () => screen.getByRole('img', { name: /^From the tool/ })
const sound = () => screen.getByLabelText(/^From the tool/)
/** What a browser tells of an element that it cannot show. */
const fail = (element: HTMLElement) => act(async () => fireEvent.error(element))

function answering(...answers: (number | 'nothing')[]) {
  const fetch = vi.fn(async (..._: unknown[]) => {
    const answer = answers.shift() ?? 200
    if (answer === 'nothing') throw new TypeError('Failed to fetch')
    return new Response(null, { status: answer })
  })
  vi.stubGlobal('fetch', fetch)
  return fetch
}

test.each([
  ['nothing', 'The server could not be reached.'],
  [404, 'It is not there any more.'],
  [503, 'The server answered with status 503.'],
] as const)(
  'a picture or sound that does not come (%s) is told with the reason, and tried again on request',
  async (answer, reason) => {
    const fetch = answering(answer, answer)
    render(<PictureFile file={{ mimeType: 'image/png', size: 1_000, url: URL }} />)
    await fail(picture())
    expect(screen.getByRole('alert').textContent).toContain(
      `The picture (From the tool: image/png, 1.0 KB) could not be loaded. ${reason}`,
    )
    expect(fetch).toHaveBeenCalledWith(URL, expect.objectContaining({ method: 'HEAD' }))
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
    expect(picture().getAttribute('src')).toBe(URL)
    expect(screen.queryByRole('alert')).toBeNull()
    render(<Sound file={{ mimeType: 'audio/ogg', size: 1_000, url: URL }} />)
    await fail(screen.getByLabelText('From the tool: audio/ogg, 1.0 KB'))
    expect(screen.getByRole('alert').textContent).toContain(`The sound could not be loaded. ${reason}`)
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
    expect(screen.queryByRole('alert')).toBeNull()
  },
)

test('a picture whose bytes come is tried once more before it is said to be damaged', async () => {
  answering(200, 200)
  render(<PictureFile file={{ mimeType: 'image/png', size: 1_000, url: URL }} />)
  const first = picture()
  await fail(first)
  expect(picture()).not.toBe(first)
  await fail(picture())
  expect(screen.getByText(/its data may be damaged/).textContent).toContain('Download it, 1.0 KB')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a sound whose bytes come and cannot be played can be downloaded', async () => {
  answering(200)
  render(<Sound file={{ mimeType: 'audio/ogg', size: 1_000, url: URL }} />)
  await fail(sound())
  expect(screen.getByText(/cannot be played/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Download it' }).getAttribute('href')).toBe(URL)
})
