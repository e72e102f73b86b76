import type { initGraphQLTada, TadaDocumentNode } from 'gql.tada'
import type { introspection } from './schema'

type Graphql = ReturnType<
  typeof initGraphQLTada<{
    introspection: introspection
    disableMasking: true
    scalars: { ID: string; DateTime: string; BigInt: number; JSON: unknown }
  }>
>

/** Documents as they were written, each fragment once; gql.tada's own function would parse them all when a page starts. */
class Written {
  readonly parts: ReadonlySet<string>

  constructor(text: string, fragments: readonly Written[] = []) {
    this.parts = new Set([text, ...fragments.flatMap((fragment) => [...fragment.parts])])
  }
}

function written(text: string, fragments?: readonly Written[]): Written {
  return new Written(text, fragments)
}

/** Types of documents follow from `schema.graphql`; fragments are read without masking. */
export const graphql = written as unknown as Graphql

/** A document with the types of its answer and variables. */
export type Document<Data, Variables> = TadaDocumentNode<Data, Variables>

/** What is sent of a document. */
export function textOf(document: Document<unknown, never>): {
  query: string
  operationName: string | undefined
} {
  const query = [...(document as unknown as Written).parts].join('\n')
  return { query, operationName: /\b(?:query|subscription) (\w+)/.exec(query)?.[1] }
}

export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada'
