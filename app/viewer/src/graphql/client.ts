import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { createClient } from 'graphql-ws'

const socket = createClient({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  lazy: true,
})

export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: (operation) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe(
            { query: operation.query ?? '', variables: operation.variables as Record<string, unknown> },
            sink as never,
          ),
        }),
      }),
    }),
  ],
})
