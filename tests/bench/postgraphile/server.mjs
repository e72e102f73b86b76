// PostGraphile 5 as its documentation sets it up, over the database at argv[2]: it prints its URL.
import { createServer } from "node:http";
import { grafserv } from "postgraphile/grafserv/node";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: process.argv[2], schemas: ["public"] })],
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
});
const server = createServer();
const serving = instance.createServ(grafserv);
await serving.addTo(server);
await instance.getSchema();
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
