import { fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CopyButton } from './CopyButton'

const selected: string[] = []

/** What the browser's old way of copying finds selected, and says of it. */
function oldWay(answer: boolean) {
  document.execCommand = vi.fn(() => {
    const field = document.activeElement as HTMLTextAreaElement
    selected.push(field.value.slice(field.selectionStart, field.selectionEnd))
    return answer
  })
}

beforeEach(() => {
  selected.length = 0
})

afterEach(() => {
  vi.unstubAllGlobals()
  Reflect.deleteProperty(document, 'execCommand')
})

test('copies by the clipboard where there is one', async () => {
  const writeText = vi.fn(async () => undefined)
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  render(<CopyButton text={() => 'one\ntwo'} label="Copy output" />)
  fireEvent.click(screen.getByRole('button', { name: 'Copy output' }))
  expect(await screen.findByRole('button', { name: 'Copied' })).toBeDefined()
  expect(writeText).toHaveBeenCalledExactlyOnceWith('one\ntwo')
})

test.each([
  ['no clipboard', undefined],
  ['a clipboard that refuses', { writeText: async () => Promise.reject(new Error('not allowed')) }],
])('with %s, copies what it selects, and keeps the focus', async (_, clipboard) => {
  vi.stubGlobal('navigator', { clipboard })
  oldWay(true)
  render(<CopyButton text={'one\ntwo'} />)
  const button = screen.getByRole('button', { name: 'Copy' })
  button.focus()
  fireEvent.click(button)
  expect(await screen.findByRole('button', { name: 'Copied' })).toBe(document.activeElement)
  expect(selected).toEqual(['one\ntwo'])
  expect(document.querySelector('textarea')).toBeNull()
})

test('says when nothing could be copied', async () => {
  vi.stubGlobal('navigator', { clipboard: undefined })
  oldWay(false)
  render(<CopyButton text="one" />)
  fireEvent.click(screen.getByRole('button', { name: 'Copy' }))
  expect(await screen.findByRole('button', { name: 'Could not be copied' })).toBeDefined()
})
