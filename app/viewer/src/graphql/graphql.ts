import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './schema'

/** Types of documents follow from `schema.graphql`; fragments are read without masking. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: { ID: string; DateTime: string; BigInt: number; JSON: unknown }
}>()

export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada'
