/** All that the system tests ask of zones and records, once more on PostgreSQL. */
import { after, suite } from "node:test";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { giveDatabases } from "../support/server.ts";

giveDatabases(freshPostgresUrl);

for (const part of ["clients", "edges", "hostile", "lists", "rules", "sdk"]) {
  suite(`dns-${part} on PostgreSQL`, () => import(`./dns-${part}.test.ts`));
}

after(stopOwnPostgres);
