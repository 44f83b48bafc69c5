import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
import { integer } from "./columns.ts";
import { databaseContract } from "./database.contract.ts";
import { isDatabaseFault } from "./database.ts";
import { openPostgres } from "./postgres.ts";
import { rawStatement, statement } from "./statement.ts";

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

test("a disk that is full is told as such", async () => {
  await using db = await openPostgres(await freshPostgresUrl(), failOnError);
  await assert.rejects(db.write(rawStatement("DO $$ BEGIN RAISE disk_full; END $$")), (error) =>
    isDatabaseFault(error, "full"),
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

test("the connection that listens is made anew when the server has closed it", async () => {
  const url = await freshPostgresUrl();
  const lost: Error[] = [];
  await using db = await openPostgres(url, (error) => lost.push(error));
  await using other = await openPostgres(url, () => {}); // Its idle connections are cut as well.
  const cut = statement({
    sql: `SELECT CAST(pg_terminate_backend(pid) AS INTEGER) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
    gives: { done: integer },
  });
  const heard: string[] = [];
  using listening = new DisposableStack();
  listening.use(db.onSignal("news", (message) => heard.push(message)));
  const hearAnew = async () => {
    heard.length = 0;
    while (heard.length === 0) {
      other.signal("news", "");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  for (let round = 1; round <= 2; round++) {
    await hearAnew();
    assert.equal((await other.all(cut({}))).length, 1);
    while (lost.length < round) await new Promise(setImmediate);
  }
  await hearAnew();
  assert.equal(lost.length, 2);
});
