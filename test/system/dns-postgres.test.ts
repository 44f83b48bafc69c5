/** All that the system tests ask of zones and records, once more on PostgreSQL. */
import { after } from "node:test";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { giveDatabases } from "../support/server.ts";
import { suiteOf } from "../support/suite-of.ts";

giveDatabases(freshPostgresUrl);

after(stopOwnPostgres);

for (const part of ["clients", "edges", "hostile", "lists", "rules", "sdk"]) {
  await suiteOf(`dns-${part} on PostgreSQL`, () => import(`./dns-${part}.test.ts`));
}
