import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
import { integer } from "./columns.ts";
import { databaseContract } from "./database.contract.ts";
import { isDatabaseFault } from "./database.ts";
import { openPostgres } from "./postgres.ts";
import { statement } from "./statement.ts";

const failOnError = (error: Error) => assert.fail(error);

databaseContract("PostgreSQL", async () => {
  const url = await freshPostgresUrl();
  return { open: () => openPostgres(url, failOnError), cleanUp: async () => {} };
});

after(stopOwnPostgres);

test("a PostgreSQL that cannot be reached is named without its password", async () => {
  await assert.rejects(
    openPostgres("postgres://me:hush@127.0.0.1:1/db", failOnError),
    (error: Error) => {
      assert.ok(isDatabaseFault(error, "unavailable"));
      assert.match(
        error.message,
        /Cannot reach the database postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/db/,
      );
      assert.doesNotMatch(error.message, /hush/);
      return true;
    },
  );
});

test("a connection that the server closed is replaced", async () => {
  const url = await freshPostgresUrl();
  const told = Promise.withResolvers<Error>();
  await using db = await openPostgres(url, told.resolve);
  const pid = statement({ sql: "SELECT pg_backend_pid()", gives: { pid: integer } });
  const { pid: victim } = (await db.first(pid({})))!;
  await using other = await openPostgres(url, failOnError);
  await other.all(
    statement({
      sql: "SELECT CAST(pg_terminate_backend(CAST(:victim AS INTEGER)) AS INTEGER)",
      takes: { victim: integer },
      gives: { done: integer },
    })({ victim }),
  );
  await told.promise;
  assert.notEqual((await db.first(pid({})))!.pid, victim);
});
