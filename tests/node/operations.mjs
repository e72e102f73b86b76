// Runs operations one after another over one socket, by graphql-ws:
// node operations.mjs URL '[{"query": "..."}, ...]'
// Prints for each what came: {"results": [...]}, or {"errors": [...]}, or {"closed": code}.
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const client = createClient({
  url: process.argv[2],
  webSocketImpl: WebSocket,
  lazy: false,
  retryAttempts: 0,
  onNonLazyError: () => {},
});

function run(operation) {
  return new Promise((resolve) => {
    const results = [];
    client.subscribe(operation, {
      next: (result) => results.push(result),
      complete: () => resolve({ results }),
      error: (error) =>
        resolve(Array.isArray(error) ? { errors: error } : { closed: error.code ?? String(error) }),
    });
  });
}

const outcomes = [];
for (const operation of JSON.parse(process.argv[3])) {
  outcomes.push(await run(operation));
}
console.log(JSON.stringify(outcomes));
await client.dispose();
