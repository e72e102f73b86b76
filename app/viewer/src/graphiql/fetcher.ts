import type { Fetcher } from '@graphiql/toolkit'
import { GraphQLError, getOperationAST, parse } from 'graphql'

/**
 * Send what the editor holds: GraphiQL reads a document's operations a moment after it has changed, and until then
 * names one of the tab before, and takes a subscription for a query.
 */
export function current(fetcher: Fetcher): Fetcher {
  return (request, options) => {
    const documentAST = parsed(request.query)
    if (!documentAST) return fetcher(request, options)
    const named = getOperationAST(documentAST, request.operationName)
    const [first] = documentAST.definitions.filter((one) => one.kind === 'OperationDefinition')
    const operationName = (named ?? first)?.name?.value
    return fetcher({ ...request, operationName }, { ...options, documentAST })
  }
}

function parsed(query: string) {
  try {
    return parse(query)
  } catch (error) {
    // What is wrong with it, the server says.
    if (error instanceof GraphQLError) return null
    throw error
  }
}
