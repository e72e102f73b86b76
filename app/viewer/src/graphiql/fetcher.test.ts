import type { Fetcher, FetcherOpts, FetcherParams } from '@graphiql/toolkit'
import { parse, print } from 'graphql'
import { expect, it } from 'vitest'
import { current } from './fetcher'

const LIST = 'query List { projects { totalCount } }'
const LIVE = 'subscription Live { sessionListUpdates { __typename } }'

/** What is sent for a request that names an operation and was made for the document `of`. */
function sent(query: string, operationName: string | null, of: string) {
  const calls: [FetcherParams, FetcherOpts | undefined][] = []
  const fetcher: Fetcher = (request, options) => {
    calls.push([request, options])
    return Promise.resolve({})
  }
  current(fetcher)({ query, operationName }, { documentAST: parse(of) })
  const [[request, options]] = calls as [[FetcherParams, FetcherOpts]]
  return { name: request.operationName, document: options.documentAST && print(options.documentAST) }
}

it('names the operation that is there, not that of the document before', () => {
  expect(sent(LIVE, 'List', LIST)).toEqual({ name: 'Live', document: print(parse(LIVE)) })
})

it('keeps the operation that was chosen among several', () => {
  expect(sent(`${LIST} ${LIVE}`, 'Live', LIST).name).toBe('Live')
})

it('names none where it has no name', () => {
  expect(sent('{ projects { totalCount } }', 'List', LIST).name).toBe(undefined)
})

it('leaves what is no document to the server', () => {
  expect(sent('{ projects', 'List', LIST)).toEqual({ name: 'List', document: print(parse(LIST)) })
})
