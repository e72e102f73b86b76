import latest from './queries/latest.graphql?raw'
import heavy from './queries/heavy.graphql?raw'
import live from './queries/live.graphql?raw'

/** What a person finds who opens GraphiQL here for the first time. */
export const firstTabs = [latest, heavy, live].map((query) => ({ query }))

/** What an address `/graphiql?query=…&variables=…` asks to be shown. */
export function asked(search: string): { initialQuery?: string; initialVariables?: string } {
  const parameters = new URLSearchParams(search)
  const query = parameters.get('query')
  if (query === null) return {}
  return { initialQuery: query, initialVariables: parameters.get('variables') ?? '' }
}
