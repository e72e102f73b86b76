import heavy from './queries/heavy.graphql?raw'
import latest from './queries/latest.graphql?raw'
import live from './queries/live.graphql?raw'

/** What a person finds who opens GraphiQL here for the first time. */
export const firstTabs = [latest, heavy, live].map((query) => ({ query }))

/** What GraphiQL begins with: the query in `/graphiql?query=…&variables=…`, else the first tabs. */
export function beginning(search: string) {
  const parameters = new URLSearchParams(search)
  const query = parameters.get('query')
  if (query === null) return { defaultTabs: firstTabs }
  return { initialQuery: query, initialVariables: parameters.get('variables') ?? '' }
}
