// Follows a session over connections that break, by graphql-ws or graphql-sse, each time with the
// last cursor: node follow.mjs ws|sse URL ID COUNT BREAK
// The connection breaks after every BREAK messages. Ends after COUNT of them and prints
// {"messages": [[sequence, revision], ...], "connections": number}.
import { createClient as createSocketClient } from 'graphql-ws';
import { createClient as createEventClient } from 'graphql-sse';
import WebSocket from 'ws';

const [kind, url, id, count, breakEvery] = process.argv.slice(2);
const outcome = { messages: [], connections: 0 };
let last = null;
let breakConnection = () => {};

const payload = {
  query: `subscription($id: ID!, $after: String) {
    sessionUpdates(sessionId: $id, after: $after) {
      __typename
      ... on MessageUpdate { cursor message { sequence revision } }
      ... on CaughtUp { cursor }
      ... on SessionChange { cursor }
    }
  }`,
  // The same payload is sent again with each connection, so the cursor is read late.
  get variables() {
    return { id, after: last };
  },
};

const again = { retryAttempts: Infinity, retryWait: async () => {}, retry: async () => {} };

function socketClient() {
  return createSocketClient({
    ...again,
    url,
    webSocketImpl: WebSocket,
    shouldRetry: () => true,
    on: {
      opened: (socket) => {
        outcome.connections += 1;
        breakConnection = () => socket.terminate();
      },
    },
  });
}

function eventClient() {
  async function fetchFn(target, options) {
    const abort = new AbortController();
    options.signal?.addEventListener('abort', () => abort.abort());
    breakConnection = () => abort.abort();
    outcome.connections += 1;
    return fetch(target, { ...options, signal: abort.signal });
  }
  return createEventClient({ ...again, url, fetchFn });
}

function take({ data, errors }) {
  if (errors) throw new Error(JSON.stringify(errors));
  const update = data.sessionUpdates;
  last = update.cursor ?? last;
  if (update.__typename !== 'MessageUpdate') return;
  outcome.messages.push([update.message.sequence, update.message.revision]);
  if (outcome.messages.length === Number(count)) {
    console.log(JSON.stringify(outcome));
    process.exit(0);
  }
  if (outcome.messages.length % Number(breakEvery) === 0) breakConnection();
}

const client = kind === 'ws' ? socketClient() : eventClient();

function follow() {
  if (outcome.connections > 100) {
    process.exit(1);
  }
  // graphql-sse gives up on a connection that breaks while it is not waiting for an event.
  client.subscribe(payload, { next: take, error: follow, complete: () => process.exit(1) });
}

follow();
