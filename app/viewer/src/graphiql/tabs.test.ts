import { expect, test } from 'vitest'
import { beginning, firstTabs } from './tabs'

test('the first tabs are a page, what is heavy, and what happens', () => {
  const operations = firstTabs.map(({ query }) => /^(query|subscription) \w+/m.exec(query)?.[0])
  expect(operations).toEqual(['query Latest', 'query Heavy', 'subscription Live'])
})

test('an address without a query begins with the first tabs', () => {
  expect(beginning('?variables=%7B%7D')).toEqual({ defaultTabs: firstTabs })
})

test('a query and its variables are taken from the address', () => {
  expect(beginning('?query=%7B+limits+%7B+maxRows+%7D+%7D')).toEqual({
    initialQuery: '{ limits { maxRows } }',
    initialVariables: '',
  })
  expect(beginning('?query=q&variables=%7B%22n%22%3A1%7D')).toEqual({
    initialQuery: 'q',
    initialVariables: '{"n":1}',
  })
})
