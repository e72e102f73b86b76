// Sends a query and a mutation as a client does that names documents by hash:
// node persisted.mjs urql|apollo|apollo-lists URL
// With apollo-lists the hash is of another text than is sent: of one with the fragments by name.
// Prints {"results": [...], "requests": [{"method", "query", "hash"}, ...]}: what came, in the order
// asked, and what was sent for it; a query that was not sent is null.
import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { generatePersistedQueryIdsAtRuntime } from '@apollo/persisted-query-lists';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';

const [kind, url] = process.argv.slice(2);
const requests = [];

function watchedFetch(target, options) {
  const parameters = options.body
    ? JSON.parse(options.body)
    : Object.fromEntries(new URL(target).searchParams);
  const extensions =
    typeof parameters.extensions === 'string'
      ? JSON.parse(parameters.extensions)
      : parameters.extensions;
  requests.push({
    method: options.method ?? 'GET',
    query: parameters.query ?? null,
    hash: extensions?.persistedQuery?.sha256Hash ?? null,
  });
  return fetch(target, options);
}

function urqlClient() {
  const client = new Client({
    url,
    fetch: watchedFetch,
    exchanges: [persistedExchange({ enableForMutation: true }), fetchExchange],
  });
  const told = ({ data, error }) => (error ? { error: error.graphQLErrors } : { data });
  return {
    query: async (query, variables) => told(await client.query(query, variables).toPromise()),
    mutate: async (mutation) => told(await client.mutation(mutation, {}).toPromise()),
  };
}

function apolloClient() {
  const sha256 = (text) => createHash('sha256').update(text).digest('hex');
  const hashing = kind === 'apollo' ? { sha256 } : generatePersistedQueryIdsAtRuntime({ sha256 });
  const persisted = new PersistedQueryLink({ ...hashing, useGETForHashedQueries: true });
  const link = ApolloLink.from([persisted, new HttpLink({ uri: url, fetch: watchedFetch })]);
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const told = async (result) => {
    try {
      return { data: (await result).data };
    } catch (error) {
      return { error: error.errors ?? String(error) };
    }
  };
  return {
    query: (query, variables) => told(client.query({ query: gql(query), variables })),
    mutate: (mutation) => told(client.mutate({ mutation: gql(mutation) })),
  };
}

const client = kind === 'urql' ? urqlClient() : apolloClient();
const HELLO = `
  query Hello($name: String!) { ...Greeting ...Again }
  fragment Greeting on Query { hello(name: $name) }
  fragment Again on Query { again: hello }
`;
const results = [
  await client.query(HELLO, { name: 'é' }),
  await client.mutate('mutation Change { change }'),
];
console.log(JSON.stringify({ results, requests }));
