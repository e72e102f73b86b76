import { expect, test } from 'vitest'
import { asked, firstTabs } from './tabs'

test('the first tabs are the page, what is heavy, and what happens', () => {
  const operations = firstTabs.map(({ query }) => /^(query|subscription) \w+/m.exec(query)?.[0])
  expect(operations).toEqual(['query Latest', 'query Heavy', 'subscription Live'])
})

test('an address without a query asks for nothing', () => {
  expect(asked('?variables=%7B%7D')).toEqual({})
})

test('a query and its variables are taken from the address', () => {
  expect(asked('?query=%7B+limits+%7B+maxRows+%7D+%7D')).toEqual({
    initialQuery: '{ limits { maxRows } }',
    initialVariables: '',
  })
  expect(asked('?query=q&variables=%7B%22n%22%3A1%7D').initialVariables).toBe('{"n":1}')
})
