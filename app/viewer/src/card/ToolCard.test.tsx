import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { request } from '../graphql/client'
import type { Block, Message, ToolCall } from '../graphql/documents'
import { toolMessage } from '../testing/messages'
import { forget } from './contents'
import { ToolCard } from './ToolCard'

vi.mock('../graphql/client', async (original) => ({
  ...(await original<typeof import('../graphql/client')>()),
  request: vi.fn(),
}))

const asked = vi.mocked(request)
type ToolMessage = Message & { toolMetadata: ToolCall }

/** An answer that comes when the test says so. */
function pending() {
  let answer: (blocks: Partial<Block>[], more?: object) => void = () => undefined
  let fail: (reason: string) => void = () => undefined
  asked.mockReturnValueOnce(
    new Promise((resolve, reject) => {
      answer = (blocks, more = {}) =>
        resolve({
          message: { session: { agent: 'test' }, toolMetadata: { blocks, contentOmitted: null, ...more } },
        } as never)
      fail = (reason) => reject(new Error(reason))
    }),
  )
  return {
    answer: (blocks: Partial<Block>[], more?: object) => act(async () => answer(blocks, more)),
    fail: (reason: string) => act(async () => fail(reason)),
  }
}

function text(value: string): Partial<Block>[] {
  return [{ __typename: 'TextBlock', text: value }]
}

function show(message: ToolMessage) {
  const view = render(<ToolCard message={message} call={message.toolMetadata} />)
  let last = message
  const become = (changes: Partial<ToolCall>) => {
    const before = last
    last = {
      ...before,
      revision: before.revision + 1,
      toolMetadata: { ...before.toolMetadata, ...changes },
    }
    act(() => forget(before, last))
    view.rerender(<ToolCard message={last} call={last.toolMetadata} />)
  }
  return { ...view, become }
}

const head = () => screen.getByRole('button', { name: /Bash/ })

// Views come with the first content; here they are at hand before the clock of a test runs.
beforeAll(() => import('./Loaded'))

beforeEach(() => {
  asked.mockReset()
})

test('a closed card says what it holds and asks for nothing', () => {
  show(toolMessage())
  expect(head().getAttribute('aria-expanded')).toBe('false')
  expect(head().textContent).toContain('make test')
  expect(head().textContent).toContain('12.3 KB')
  expect(head().textContent).toContain('2.5 s')
  expect(head().textContent).toContain('completed')
  expect(head().textContent).toContain('first line')
  expect(head().textContent).not.toContain('second line')
  expect(asked).not.toHaveBeenCalled()
})

test('an opened card says that it loads, then shows its content', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage())
  await user.click(head())
  expect(head().getAttribute('aria-expanded')).toBe('true')
  expect(screen.getByRole('status').textContent).toBe('Loading tool content')
  await loading.answer(text('all is well'))
  expect(await screen.findByText('all is well')).toBeTruthy()
  expect(screen.queryByRole('status')).toBeNull()
})

test('two quick clicks make one request', async () => {
  const user = userEvent.setup()
  pending()
  show(toolMessage())
  await user.dblClick(head())
  expect(head().getAttribute('aria-expanded')).toBe('false')
  expect(asked).toHaveBeenCalledTimes(1)
})

test('closing while it loads and opening again makes no second request', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage())
  await user.click(head())
  await user.click(head())
  await user.click(head())
  await loading.answer(text('it came'))
  expect(await screen.findByText('it came')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a failure is an alert with its reason, and Retry loads again', async () => {
  const user = userEvent.setup()
  const first = pending()
  show(toolMessage())
  await user.click(head())
  await first.fail('The server could not be reached.')
  expect(screen.getByRole('alert').textContent).toContain('The server could not be reached.')
  const second = pending()
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(screen.getByRole('status').textContent).toBe('Loading tool content')
  await second.answer(text('now it is here'))
  const content = await screen.findByText('now it is here')
  expect(document.activeElement).not.toBe(document.body)
  expect(document.activeElement?.contains(content)).toBe(true)
  expect(screen.queryByRole('alert')).toBeNull()
  expect(asked).toHaveBeenCalledTimes(2)
})

test('what was loaded outlives the row', async () => {
  const user = userEvent.setup()
  const loading = pending()
  const message = toolMessage()
  const { unmount } = show(message)
  await user.click(head())
  await loading.answer(text('kept'))
  await screen.findByText('kept')
  unmount()
  show(message)
  expect(head().getAttribute('aria-expanded')).toBe('true')
  expect(await screen.findByText('kept')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(1)
})

test('another hash drops the content, and an open card loads the new one', async () => {
  const user = userEvent.setup()
  const first = pending()
  const { become } = show(toolMessage())
  await user.click(head())
  await first.answer(text('old words'))
  await screen.findByText('old words')
  const second = pending()
  become({ contentHash: 'sha256:2' })
  expect(screen.queryByText('old words')).toBeNull()
  await second.answer(text('new words'))
  expect(await screen.findByText('new words')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(2)
})

test('an update that leaves the hash keeps the content', async () => {
  const user = userEvent.setup()
  const loading = pending()
  const { become } = show(toolMessage())
  await user.click(head())
  await loading.answer(text('the same'))
  await screen.findByText('the same')
  become({ title: 'make check' })
  expect(screen.getByText('the same')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(1)
})

test('what was read before an update is not shown after it', async () => {
  const user = userEvent.setup()
  const first = pending()
  const { become } = show(toolMessage())
  await user.click(head())
  const second = pending()
  become({ contentHash: 'sha256:2' })
  await second.answer(text('new words'))
  await first.answer(text('old words'))
  expect(await screen.findByText('new words')).toBeTruthy()
  expect(screen.queryByText('old words')).toBeNull()
})

test('a content that comes back, unseen, after another is loaded again', async () => {
  const user = userEvent.setup()
  const message = toolMessage()
  const first = pending()
  const { become, unmount } = show(message)
  await user.click(head())
  await first.answer(text('alpha'))
  await screen.findByText('alpha')
  const second = pending()
  become({ contentHash: 'sha256:2' })
  await second.answer(text('beta'))
  await screen.findByText('beta')
  unmount()
  const third = pending()
  show({ ...message, revision: 3, toolMetadata: { ...message.toolMetadata } })
  await third.answer(text('alpha again'))
  expect(await screen.findByText('alpha again')).toBeTruthy()
})

test('a call that runs again, unseen, after it had ended is loaded again', async () => {
  const user = userEvent.setup()
  const message = toolMessage({ status: 'IN_PROGRESS', endedAt: null })
  const first = pending()
  const { become, unmount } = show(message)
  await user.click(head())
  await first.answer(text('half'))
  await screen.findByText('half')
  const second = pending()
  become({ status: 'COMPLETED' })
  await second.answer(text('whole'))
  await screen.findByText('whole')
  unmount()
  const third = pending()
  show({ ...message, revision: 3, toolMetadata: { ...message.toolMetadata } })
  await third.answer(text('half anew'))
  expect(await screen.findByText('half anew')).toBeTruthy()
})

test('parts of a large output go with it, also when the next is there already', async () => {
  const user = userEvent.setup()
  const message = toolMessage({ contentSize: 5_800_000 })
  const other = { ...message, toolMetadata: { ...message.toolMetadata, contentHash: 'sha256:2' } }
  const lines = (word: string) => ({
    blocks: undefined,
    contentLines: { from: 1, lines: [word], truncated: [], totalLines: 1, nextFrom: null },
  })
  const first = pending()
  const { unmount } = show(message)
  await user.click(head())
  await first.answer([], lines('alpha'))
  await screen.findByText('alpha')
  unmount()
  const second = pending()
  const { become } = show(other)
  await second.answer([], lines('beta'))
  await screen.findByText('beta')
  become({ contentHash: 'sha256:1' })
  expect(await screen.findByText('alpha')).toBeTruthy()
  expect(screen.queryByText('beta')).toBeNull()
})

test('another input is loaded, whether the card is open or closed when it comes', async () => {
  const user = userEvent.setup()
  const input = (word: string) => ({ rawInput: { json: { command: word } } })
  const first = pending()
  const { become } = show(toolMessage({ rawInput: { size: 30, hash: 'sha256:i', url: '/i' } }))
  await user.click(head())
  await first.answer(text('ok'), input('two'))
  await screen.findByText('two')
  const second = pending()
  become({ rawInput: { size: 30, hash: 'sha256:j', url: '/j' } })
  expect(screen.queryByText('two')).toBeNull()
  await second.answer(text('ok'), input('three'))
  expect(await screen.findByText('three')).toBeTruthy()
  await user.click(head())
  const third = pending()
  become({ rawInput: { size: 30, hash: 'sha256:k', url: '/k' } })
  await user.click(head())
  await third.answer(text('ok'), input('four'))
  expect(await screen.findByText('four')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(3)
})

test('an opened recorded result is read again when it changes', async () => {
  const user = userEvent.setup()
  const loading = pending()
  const { become } = show(toolMessage({ rawOutput: { size: 3, hash: 'sha256:o', url: '/o' } }))
  await user.click(head())
  await loading.answer(text('ok'))
  const slice = (word: string) =>
    ({
      message: { toolMetadata: { rawOutput: { slice: { text: word, nextOffset: null, totalSize: 3 } } } },
    }) as never
  asked.mockResolvedValueOnce(slice('one'))
  await user.click(await screen.findByRole('button', { name: /as the agent recorded it/ }))
  await screen.findByText('one')
  asked.mockResolvedValueOnce(slice('two'))
  become({ rawOutput: { size: 3, hash: 'sha256:p', url: '/p' } })
  expect(await screen.findByText('two')).toBeTruthy()
  expect(screen.queryByText('one')).toBeNull()
})

test('a running card shows what there was, and loads again when it ends', async () => {
  const user = userEvent.setup()
  const first = pending()
  const { become } = show(toolMessage({ status: 'IN_PROGRESS', endedAt: null }))
  expect(head().textContent).toContain('running')
  await user.click(head())
  await first.answer(text('half'))
  await screen.findByText('half')
  expect(screen.getByText(/Still running/)).toBeTruthy()
  become({ contentHash: 'sha256:2' })
  expect(screen.getByText('half')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(1)
  const second = pending()
  become({ contentHash: 'sha256:3', status: 'COMPLETED' })
  await second.answer(text('whole'))
  expect(await screen.findByText('whole')).toBeTruthy()
  expect(screen.queryByText('half')).toBeNull()
  expect(asked).toHaveBeenCalledTimes(2)
})

test('a running call without output asks for nothing until it ends', async () => {
  const user = userEvent.setup()
  const { become } = show(
    toolMessage({
      status: 'IN_PROGRESS',
      contentSize: null,
      contentHash: null,
      contentState: 'NONE_RECORDED',
    }),
  )
  await user.click(head())
  expect(screen.getByText('Still running: no output yet.')).toBeTruthy()
  expect(asked).not.toHaveBeenCalled()
  const loading = pending()
  become({ status: 'COMPLETED', contentSize: 4, contentHash: 'sha256:9', contentState: 'COMPLETE' })
  await loading.answer(text('done at last'))
  expect(await screen.findByText('done at last')).toBeTruthy()
})

test('a call that returned nothing says so', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage({ contentSize: 2 }))
  await user.click(head())
  await loading.answer([])
  expect(await screen.findByText('No output.')).toBeTruthy()
})

test.each([
  [{ contentState: 'CUT_BY_AGENT' }, 'cut by the agent', /had cut this output/],
  [{ contentState: 'MISSING', contentSize: null }, 'output missing', /in a file that was not there/],
  [{ contentState: 'NONE_RECORDED', contentSize: null }, 'no result recorded', /No result was recorded/],
  [
    { status: 'PENDING', contentState: 'NONE_RECORDED', contentSize: null },
    'pending',
    /there is no output yet/,
  ],
] as [Partial<ToolCall>, string, RegExp][])(
  'what is not there is said in words: %o',
  async (call, short, words) => {
    const user = userEvent.setup()
    asked.mockResolvedValue({
      message: {
        session: { agent: 'test' },
        toolMetadata: { blocks: text('a part'), contentOmitted: null },
      },
    } as never)
    show(toolMessage(call))
    expect(head().textContent).toContain(short)
    await user.click(head())
    expect(await screen.findByText(words)).toBeTruthy()
  },
)

test('a large content is asked for by lines, with more, its end and a download', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage({ contentSize: 5_800_000 }))
  await user.click(head())
  expect(asked.mock.calls[0]?.[1]).toMatchObject({ blocks: false, lines: true })
  const lines = { from: 1, lines: ['one', 'two'], truncated: [], totalLines: 70_000, nextFrom: 3 }
  await loading.answer([], { blocks: undefined, contentLines: lines })
  expect(await screen.findByText(/one\s+two/)).toBeTruthy()
  expect(screen.getByRole('link', { name: /Download 5.8 MB/ })).toBeTruthy()
  asked.mockResolvedValueOnce({
    message: { toolMetadata: { contentLines: { ...lines, from: 3, lines: ['three'], nextFrom: null } } },
  } as never)
  await user.click(screen.getByRole('button', { name: 'Show more: 2 of 70,000 lines' }))
  expect(await screen.findByText('three')).toBeTruthy()
  expect(screen.queryByRole('button', { name: /Show more/ })).toBeNull()
})

/** Open a large output, of which these are the first lines. */
async function openLines(call: Partial<ToolCall>, lines: string[], totalLines = 5_000) {
  const user = userEvent.setup()
  const loading = pending()
  const view = show(toolMessage({ contentSize: 400_000, ...call }))
  await user.click(head())
  const nextFrom = lines.length < totalLines ? lines.length + 1 : null
  await loading.answer([], {
    blocks: undefined,
    contentLines: { from: 1, lines, truncated: [], totalLines, nextFrom },
  })
  return { user, ...view }
}

const clipboard = () => screen.getAllByRole('button', { name: /^Copy/ }).map((one) => one.title)

test.each(['EXECUTE', 'OTHER'] as const)(
  'what copies a part of an output (%s) says of how much',
  async (kind) => {
    const { user } = await openLines({ kind }, ['one', 'two'], 5)
    await vi.waitFor(() => expect(clipboard()).toEqual(['Copy these 2 lines']))
    const lines = { from: 5, lines: ['five'], truncated: [], totalLines: 5, nextFrom: null }
    asked.mockResolvedValueOnce({ message: { toolMetadata: { contentLines: lines } } } as never)
    await user.click(screen.getByRole('button', { name: 'Show the end' }))
    await vi.waitFor(() => expect(clipboard()).toEqual(['Copy these 2 lines', 'Copy this line']))
    const rest = { ...lines, from: 3, lines: ['three', 'four', 'five'] }
    asked.mockResolvedValueOnce({ message: { toolMetadata: { contentLines: rest } } } as never)
    await user.click(screen.getByRole('button', { name: /Show more/ }))
    await vi.waitFor(() => expect(clipboard()).toEqual(['Copy output']))
  },
)

test('what copies lines that are cut says that it copies what is shown', async () => {
  await openLines({}, ['x'.repeat(30_000)], 1)
  await vi.waitFor(() => expect(clipboard()).toEqual(['Copy what is shown']))
})

test('what copies stored JSON that is not all there says of how much', async () => {
  const { user } = await openLines({}, ['one'], 1)
  const slice = (text: string, nextOffset: number | null) =>
    ({ message: { toolMetadata: { contentSlice: { text, nextOffset, totalSize: 400_000 } } } }) as never
  asked.mockResolvedValueOnce(slice('[{', 256_000))
  await user.click(await screen.findByRole('button', { name: 'Stored JSON' }))
  await vi.waitFor(() => expect(clipboard()).toContain('Copy the first 256.0 KB'))
  asked.mockResolvedValueOnce(slice('}]', null))
  await user.click(screen.getByRole('button', { name: /Show more/ }))
  await vi.waitFor(() => expect(clipboard()).toContain('Copy stored json'))
})

test('the fence around a large output is not shown, whichever of its lines are', async () => {
  const { user, container } = await openLines({}, ['```console', 'one', 'two'])
  const shown = () => container.querySelector('.scroll pre:not(.numbers)')?.textContent
  await vi.waitFor(() => expect(shown()).toBe('one\ntwo'))
  expect(container.querySelector('.numbers')?.textContent).toBe('2\n3')
  asked.mockResolvedValueOnce({
    message: {
      toolMetadata: {
        contentLines: { from: 4, lines: ['three', '```'], truncated: [], totalLines: 5, nextFrom: null },
      },
    },
  } as never)
  await user.click(screen.getByRole('button', { name: /Show more/ }))
  expect(await screen.findByText(/three/)).toBeTruthy()
  expect(container.textContent).not.toContain('```')
})

test('a fence that turns out to end earlier is shown', async () => {
  const { user, container } = await openLines({}, ['```', 'one'])
  await vi.waitFor(() => expect(container.textContent).toContain('one'))
  expect(container.textContent).not.toContain('```')
  asked.mockResolvedValueOnce({
    message: {
      toolMetadata: {
        contentLines: { from: 3, lines: ['```', 'words'], truncated: [], totalLines: 4, nextFrom: null },
      },
    },
  } as never)
  await user.click(screen.getByRole('button', { name: /Show more/ }))
  expect(await screen.findByText(/words/)).toBeTruthy()
  expect(container.textContent?.match(/```/g)).toHaveLength(2)
})

test('a large JSON is code, and all of it is read when it is asked for as a tree', async () => {
  const { user, container } = await openLines({}, ['[', '  {"name": "Ada"},'])
  const tree = await screen.findByRole('button', { name: 'Tree' })
  expect(container.querySelector('.terminal')).toBeNull()
  expect(asked).toHaveBeenCalledTimes(1)
  asked.mockResolvedValueOnce({
    message: { toolMetadata: { contentText: { text: '[{"name": "Ada"},', nextOffset: '17' } } },
  } as never)
  asked.mockRejectedValueOnce(new Error('It is being repaired.'))
  await user.click(tree)
  expect((await screen.findByRole('alert')).textContent).toContain('It is being repaired.')
  expect(container.querySelector('.code')).not.toBeNull()
  asked.mockResolvedValueOnce({
    message: { toolMetadata: { contentText: { text: '[{"name": "Ada"},', nextOffset: '17' } } },
  } as never)
  asked.mockResolvedValueOnce({
    message: { toolMetadata: { contentText: { text: ' {"name": "Grace"}]', nextOffset: null } } },
  } as never)
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByText('Grace')).toBeTruthy()
  expect(asked.mock.calls.at(-1)?.[1]).toMatchObject({ offset: '17' })
  expect(container.querySelector('.code')).toBeNull()
  await user.click(tree)
  expect(container.querySelector('.code')).not.toBeNull()
})

test('what only looks like JSON says so, and stays as it is', async () => {
  const { user, container } = await openLines({}, ['{"a": 1}', '{"a": 2}'])
  asked.mockResolvedValueOnce({
    message: { toolMetadata: { contentText: { text: '{"a": 1}\n{"a": 2}', nextOffset: null } } },
  } as never)
  await user.click(await screen.findByRole('button', { name: 'Tree' }))
  expect(await screen.findByText(/not one JSON value/)).toBeTruthy()
  expect(container.querySelector('.code')).not.toBeNull()
})

test.each([
  ['[INFO] started', {}],
  ['[1/5] Building', {}],
  ['[{"a": 1},', { contentSize: 5_000_000 }],
])('what cannot be a tree is not offered as one: %s', async (line, call) => {
  const { container } = await openLines(call, [line, 'more'])
  await vi.waitFor(() => expect(container.textContent).toContain('more'))
  expect(screen.queryByRole('button', { name: 'Tree' })).toBeNull()
})

const named = (...lines: string[]) => ({
  blocks: undefined,
  contentLines: { from: 1, lines, truncated: [], totalLines: lines.length, nextFrom: null },
  images: [
    { mimeType: 'image/png', size: 445_800, url: '/api/projects/default/blobs/sha256:p' },
    { mimeType: 'audio/ogg', size: 300_000, url: '/api/projects/default/blobs/sha256:a' },
    { mimeType: 'application/pdf', size: 200_000, url: '/api/projects/default/blobs/sha256:f' },
  ],
})

test('what is no text in a large content is there by its address, and all of it in its order', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage({ contentSize: 1_200_000 }))
  await user.click(head())
  await loading.answer(
    [],
    named('[image/png, 445.8 kB]', '[audio/ogg, 300.0 kB]', '[application/pdf, 200.0 kB]'),
  )
  const picture = await screen.findByRole('img', { name: 'From the tool: image/png, 445.8 KB' })
  expect(picture.getAttribute('src')).toBe('/api/projects/default/blobs/sha256:p')
  expect(picture.getAttribute('loading')).toBe('lazy')
  const sound = screen.getByLabelText('From the tool: audio/ogg, 300.0 KB')
  expect([sound.getAttribute('src'), sound.getAttribute('preload')]).toEqual([
    '/api/projects/default/blobs/sha256:a',
    'none',
  ])
  const file = screen.getByRole('link', { name: 'Download' })
  expect(file.getAttribute('href')).toBe('/api/projects/default/blobs/sha256:f')
  expect(screen.queryByText(/445.8 kB/)).toBeNull()
  expect(screen.queryByText(/Shown in parts/)).toBeNull()
  expect(asked).toHaveBeenCalledTimes(1)
})

test('lines that say more than what is shown by its address stay', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage({ contentSize: 1_200_000 }))
  await user.click(head())
  await loading.answer([], named('Two pictures:', '[image/png, 445.8 kB]'))
  expect(await screen.findByText(/Two pictures:/)).toBeTruthy()
  expect(screen.getByText(/Shown in parts/)).toBeTruthy()
  expect(screen.getByRole('img')).toBeTruthy()
})

test('what the guard kept back comes by lines as well', async () => {
  const user = userEvent.setup()
  const loading = pending()
  asked.mockResolvedValueOnce({
    message: {
      toolMetadata: {
        contentLines: { from: 1, lines: ['kept back'], truncated: [], totalLines: 1, nextFrom: null },
      },
    },
  } as never)
  show(toolMessage())
  await user.click(head())
  await loading.answer([], {
    blocks: null,
    contentOmitted: { reason: 'BUDGET_EXCEEDED', size: 12_345, limit: 1 },
  })
  expect(await screen.findByText('kept back')).toBeTruthy()
})

test('the input comes along with the content, and a large one when asked for', async () => {
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage({ rawInput: { size: 30, hash: 'sha256:i', url: '/i' } }))
  await user.click(head())
  expect(asked.mock.calls[0]?.[1]).toMatchObject({ input: true })
  await loading.answer(text('ok'), { rawInput: { json: { command: 'make all', timeout: 60 } } })
  expect(await screen.findByText('make all')).toBeTruthy()
  expect(screen.getByText('timeout')).toBeTruthy()
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a block that cannot be drawn is shown as it was recorded, and its neighbours as ever', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const user = userEvent.setup()
  const loading = pending()
  show(toolMessage())
  await user.click(head())
  const broken = { __typename: 'DiffBlock', path: 'a.py', oldText: 'x', newText: { not: 'a text' } }
  await loading.answer([broken as never, ...text('the neighbour')])
  expect(await screen.findByText('the neighbour')).toBeTruthy()
  expect(screen.getByText(/Shown as it was recorded/)).toBeTruthy()
})

test('a card says nothing twice, and nothing of what there is not', () => {
  const ended = '2026-01-01T10:00:00.004Z'
  show(toolMessage({ name: 'Bash', title: 'Bash', contentSize: 2, contentPreview: '', endedAt: ended }))
  expect(head().textContent).toBe('Bash completed')
})

test('files are controls of their own, outside the button', async () => {
  const user = userEvent.setup()
  const loading = pending()
  const write = vi.fn().mockResolvedValue(undefined)
  show(toolMessage({ locations: [{ path: '/src/app.py', line: 12 }] }))
  await user.click(head())
  await loading.answer(text('ok'))
  Object.defineProperty(navigator, 'clipboard', { value: { writeText: write }, configurable: true })
  const place = screen.getByRole('button', { name: /Copy the path\s*\/src\/app.py:12/ })
  expect(head().contains(place)).toBe(false)
  await user.click(place)
  expect(write).toHaveBeenCalledWith('/src/app.py:12')
})
