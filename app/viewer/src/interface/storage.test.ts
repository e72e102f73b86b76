import { afterEach, expect, test, vi } from 'vitest'
import { storage as ofGraphiql } from '../graphiql/storage'
import { store, stored } from './storage'

const own = Object.getOwnPropertyDescriptor(globalThis, 'localStorage') as PropertyDescriptor

afterEach(() => {
  Object.defineProperty(globalThis, 'localStorage', own)
  localStorage.clear()
})

/** A browser that refuses what is asked of it, in the words of Chromium. */
function refuse(): never {
  throw new DOMException('Access is denied for this document.', 'SecurityError')
}

test('what is stored is kept by the browser', () => {
  store('key', 'value')
  expect(localStorage.getItem('key')).toBe('value')
  expect(stored('key')).toBe('value')
  expect(ofGraphiql()).toBeUndefined()
})

test('what a browser without storage is given is kept until the page goes', () => {
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, get: refuse })
  expect(stored('refused')).toBeNull()
  store('refused', 'value')
  expect(stored('refused')).toBe('value')
  const kept = ofGraphiql()
  kept?.setItem('key', 'value')
  expect([kept?.getItem('key'), kept?.getItem('other'), kept?.length]).toEqual(['value', null, 1])
  kept?.removeItem('key')
  expect(kept?.length).toBe(0)
})

test('what is there no room for counts all the same, until there is', () => {
  store('full', 'before')
  const setting = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('There is no room.', 'QuotaExceededError')
  })
  store('full', 'after')
  expect(stored('full')).toBe('after')
  setting.mockRestore()
  store('full', 'later')
  expect(localStorage.getItem('full')).toBe('later')
  expect(stored('full')).toBe('later')
})
