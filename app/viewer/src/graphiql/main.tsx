import 'graphiql/setup-workers/vite'
import 'graphiql/style.css'
import '@graphiql/plugin-explorer/style.css'
import './graphiql.css'
import { explorerPlugin } from '@graphiql/plugin-explorer'
import { HISTORY_PLUGIN } from '@graphiql/plugin-history'
import { createGraphiQLFetcher } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import { createClient } from 'graphql-ws'
import { createRoot } from 'react-dom/client'
import { current } from './fetcher'
import { Logo } from './Logo'
import { storage } from './storage'
import { beginning } from './tabs'

const fetcher = createGraphiQLFetcher({
  url: '/graphql',
  wsClient: createClient({ url: `${location.origin.replace(/^http/, 'ws')}/graphql`, lazy: true }),
  // The server has no @defer; without this the page would ask for multipart answers.
  enableIncrementalDelivery: false,
})

createRoot(document.getElementById('graphiql') as HTMLElement).render(
  <GraphiQL
    fetcher={current(fetcher)}
    {...beginning(location.search)}
    storage={storage()}
    plugins={[HISTORY_PLUGIN, explorerPlugin()]}
  >
    <GraphiQL.Logo>
      <Logo />
    </GraphiQL.Logo>
  </GraphiQL>,
)
