// Prints the result of each of graphql-http's audits: node audits.mjs URL
import { serverAudits } from 'graphql-http';

const results = [];
for (const audit of serverAudits({ url: process.argv[2] })) {
  const { id, name, status, reason } = await audit.fn();
  results.push({ id, name, status, reason });
}
console.log(JSON.stringify(results));
