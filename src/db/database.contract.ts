/** What every engine owes. Each runs this same suite. */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { until } from "../../test/support/patience.ts";
import { bytes, integer, json, maybe, text } from "./columns.ts";
import { type Database, isDatabaseFault } from "./database.ts";
import { acquireLease, releaseLease, whileHeld } from "./lease.ts";
import { type Migration, migrate } from "./migrate.ts";
import { mustChangeOne, scanStatement, statement } from "./statement.ts";

const schema: Migration = {
  part: "contract",
  number: 1,
  sql: ({ text, integer, bytes }) => [
    `CREATE TABLE things (name ${text} PRIMARY KEY, size ${integer} NOT NULL, body ${bytes}, note ${text})`,
    `CREATE TABLE owners (thing ${text} PRIMARY KEY REFERENCES things (name))`,
  ],
};
const add = statement({
  sql: "INSERT INTO things (name, size, body, note) VALUES (:name, :size, :body, :note)",
  takes: { name: text, size: integer, body: maybe(bytes), note: maybe(json<unknown>()) },
});
const find = statement({
  sql: "SELECT size, body, note FROM things WHERE name = :name",
  takes: { name: text },
  gives: { size: integer, body: maybe(bytes), note: maybe(json<unknown>()) },
});
const names = statement({ sql: "SELECT name FROM things ORDER BY name", gives: { name: text } });
const grow = statement({
  sql: "UPDATE things SET size = size + 1 WHERE name = :name AND size = :seen",
  takes: { name: text, seen: integer },
});
const remove = statement({
  sql: "DELETE FROM things WHERE name = :name RETURNING size",
  takes: { name: text },
  gives: { size: integer },
});
const everything = scanStatement<readonly [name: string, size: number, note: string | null]>()({
  sql: "SELECT name, size, note FROM things WHERE size >= :least ORDER BY name",
  takes: { least: integer },
});
const clear = statement({ sql: "DELETE FROM things" });
const own = statement({
  sql: "INSERT INTO owners (thing) VALUES (:name)",
  takes: { name: text },
});
const disown = statement({ sql: "DELETE FROM owners" });

const thing = (name: string, size = 0) => add({ name, size, body: null, note: null });

export interface Engine {
  /** Opens the same database each time it is called. */
  open(): Promise<Database>;
  cleanUp(): Promise<void>;
}

export function databaseContract(name: string, makeEngine: () => Promise<Engine>): void {
  suite(`${name} keeps the database contract`, () => {
    let engine: Engine;
    let db: Database;
    const options = { holder: "test", now: Date.now, sleep: async () => {} };

    before(async () => {
      engine = await makeEngine();
      db = await engine.open();
      await migrate(db, [schema], options);
    });
    after(async () => {
      await db[Symbol.asyncDispose]();
      await engine.cleanUp();
    });

    test("gives back what was written, of every kind of column", async () => {
      const body = Uint8Array.from({ length: 256 }, (_, i) => i);
      const size = Number.MAX_SAFE_INTEGER;
      await db.write(add({ name: "whole", size, body, note: { a: [1, "ü", null] } }));
      const found = await db.first(find({ name: "whole" }));
      assert.equal(found?.size, size);
      assert.deepEqual(Uint8Array.from(found?.body ?? []), body);
      assert.deepEqual(found?.note, { a: [1, "ü", null] });
      assert.equal(await db.first(find({ name: "absent" })), null);
    });

    test("orders text by its UTF-8 bytes", async () => {
      await db.write(clear({}));
      const words = ["a", "B", "ä", "Z", "_", "a-b", "ab", "\u{1F600}", "\uFFFD"];
      for (const word of words) await db.write(thing(word));
      const sorted = words.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(
        (await db.all(names({}))).map((row) => row.name),
        sorted,
      );
    });

    test("a key that exists is a fault of kind unique, and undoes its whole write", async () => {
      await db.write(clear({}));
      await db.write(thing("taken"));
      await assert.rejects(db.write(thing("beside"), thing("taken")), (error) =>
        isDatabaseFault(error, "unique"),
      );
      assert.deepEqual(await db.all(names({})), [{ name: "taken" }]);
    });

    test("a row that needs another is a fault of kind reference without it, and keeps it", async () => {
      await db.write(clear({}));
      const isReference = (error: unknown) => isDatabaseFault(error, "reference");
      await assert.rejects(db.write(thing("beside"), own({ name: "absent" })), isReference);
      await db.write(thing("owned"), own({ name: "owned" }));
      await assert.rejects(db.write(remove({ name: "owned" })), isReference);
      assert.deepEqual(await db.all(names({})), [{ name: "owned" }]);
      await db.write(disown({}), clear({}));
    });

    test("a guard that does not hold undoes its whole write", async () => {
      await db.write(clear({}));
      await db.write(thing("counted", 5));
      await assert.rejects(
        db.write(thing("beside"), mustChangeOne(grow({ name: "counted", seen: 4 }))),
        (error) => isDatabaseFault(error, "guard"),
      );
      assert.deepEqual(await db.all(names({})), [{ name: "counted" }]);
      await db.write(mustChangeOne(grow({ name: "counted", seen: 5 })));
      assert.equal((await db.first(find({ name: "counted" })))?.size, 6);
    });

    test("a write tells how many rows changed, and what they gave", async () => {
      await db.write(clear({}));
      await db.write(thing("one", 1), thing("two", 2));
      const [gone, none] = await db.write(remove({ name: "two" }), remove({ name: "three" }));
      assert.deepEqual(gone, { changes: 1, rows: [{ size: 2 }] });
      assert.deepEqual(none, { changes: 0, rows: [] });
    });

    test("of many guarded writes to one row at once, each takes effect or is refused", async () => {
      await db.write(clear({}));
      await db.write(thing("shared"));
      let refused = 0;
      const add1 = async () => {
        for (;;) {
          const seen = (await db.first(find({ name: "shared" })))!.size;
          try {
            return await db.write(mustChangeOne(grow({ name: "shared", seen })));
          } catch (error) {
            if (!isDatabaseFault(error, "guard")) throw error;
            refused++;
          }
        }
      };
      await Promise.all(Array.from({ length: 40 }, add1));
      assert.equal((await db.first(find({ name: "shared" })))?.size, 40);
      assert.ok(refused > 0, "the writes did not meet");
    });

    test("a failed write among many at once leaves the others alone", async () => {
      await db.write(clear({}));
      await db.write(thing("n7"));
      const writes = Array.from({ length: 50 }, (_, i) => db.write(thing(`n${i}`), thing(`m${i}`)));
      const outcomes = await Promise.allSettled(writes);
      assert.deepEqual(
        outcomes.flatMap(({ status }, i) => (status === "rejected" ? [i] : [])),
        [7],
      );
      assert.equal((await db.all(names({}))).length, 99);
    });

    test("a read that the engine refuses is a fault like a write's", async () => {
      const lost = statement({ sql: "SELECT name FROM nothing", gives: { name: text } });
      const isUnavailable = (error: unknown) => isDatabaseFault(error, "unavailable");
      await assert.rejects(db.all(lost({})), isUnavailable);
      await assert.rejects(db.first(lost({})), isUnavailable);
      await assert.rejects(db.write(lost({})), isUnavailable);
    });

    test("what another connection wrote is seen by the next read", async () => {
      await using other = await engine.open();
      await db.write(clear({}));
      for (let i = 0; i < 20; i++) {
        await other.write(thing(`seen${i}`));
        assert.equal((await db.all(names({}))).length, i + 1);
      }
    });

    test("a scan gives every row of the moment it began, in stretches and as plain arrays", async () => {
      await db.write(clear({}));
      const nameOf = (i: number) => `n${String(i).padStart(5, "0")}`;
      await db.write(...Array.from({ length: 10_000 }, (_, i) => thing(nameOf(i), i)));
      const scanned: (readonly [string, number, string | null])[] = [];
      let stretches = 0;
      for await (const stretch of db.scan(everything({ least: 1 }))) {
        if (stretches++ === 0) {
          await db.write(thing("z"));
          assert.equal((await db.all(names({}))).length, 10_001, "other reads are of now");
        }
        scanned.push(...stretch);
      }
      assert.ok(stretches > 1);
      assert.deepEqual(
        scanned,
        Array.from({ length: 9_999 }, (_, i) => [nameOf(i + 1), i + 1, null]),
      );
    });

    test("a scan that is left, or fails, leaves nothing behind", async () => {
      const broken = scanStatement<readonly [string]>()({ sql: "SELECT name FROM nothing" });
      for (let i = 0; i < 40; i++) {
        for await (const _ of db.scan(everything({ least: 0 }))) break;
        await assert.rejects(db.scan(broken({})).next());
      }
      await db.write(clear({}));
      assert.deepEqual(await Array.fromAsync(db.scan(everything({ least: 0 }))), []);
    });

    test("a signal reaches every node that listens to its topic, where there can be several", async () => {
      await using other = await engine.open();
      using listening = new DisposableStack();
      const heard = { here: [] as string[], there: [] as string[], elsewhere: [] as string[] };
      listening.use(db.onSignal("news", (message) => heard.here.push(message)));
      const there = other.onSignal("news", (message) => heard.there.push(message));
      listening.use(db.onSignal("other news", (message) => heard.elsewhere.push(message)));
      const isHeard = () => heard.here.length > 0 && heard.there.length > 0;
      if (!db.shared) {
        db.signal("news", "to nobody");
        assert.equal(isHeard(), false);
        return;
      }
      // Nodes begin to listen in their own time; until then signals are lost.
      await until(() => {
        db.signal("news", "quotes ' and \" and ü");
        return isHeard();
      });
      assert.equal(heard.there[0], "quotes ' and \" and ü");
      there[Symbol.dispose]();
      const [soFar, before] = [heard.here.length, heard.there.length];
      for (let i = 0; i < 300; i++) other.signal("news", `many ${i}`);
      other.signal("other news", "at last");
      await until(() => heard.elsewhere.length > 0);
      const many = heard.here.filter((message) => message.startsWith("many"));
      assert.deepEqual(
        many,
        Array.from({ length: 300 }, (_, i) => `many ${i}`),
      );
      assert.ok(heard.here.length >= soFar + 300);
      assert.equal(heard.there.length, before, "who has left hears no more");
    });

    test("a write of very many steps happens all or not at all", async () => {
      const many = 12_000;
      function* things(broken: number | null) {
        for (let i = 0; i < many; i++) {
          if (i === broken) throw new Error("no more things");
          yield thing(`n${i}`);
        }
      }
      await db.write(clear({}));
      const count = async () => (await db.all(names({}))).length;
      await db.writeAll(things(null));
      assert.equal(await count(), many);
      await assert.rejects(db.writeAll(things(null)), (error) => isDatabaseFault(error, "unique"));
      await db.write(clear({}));
      // The steps fail half-way, and so does the last of them; what comes between still happens.
      const gaveUp = assert.rejects(db.writeAll(things(many - 1)), /no more things/);
      const beside = db.write(thing("beside"));
      const late = assert.rejects(db.writeAll([...things(null), thing("n0")]), (error) =>
        isDatabaseFault(error, "unique"),
      );
      await Promise.all([gaveUp, beside, late]);
      assert.deepEqual(await db.all(names({})), [{ name: "beside" }]);
    });

    test("a lease has one holder, who can renew it until it lapses", async () => {
      const mine = { name: "work", holder: "me", seconds: 10 };
      const yours = { ...mine, holder: "you" };
      assert.equal(await acquireLease(db, mine, 1000), true);
      assert.equal(await acquireLease(db, yours, 2000), false);
      assert.equal(await acquireLease(db, mine, 5000), true);
      assert.equal(await acquireLease(db, yours, 15_001), true, "the lease had lapsed");
      await assert.rejects(db.write(whileHeld(mine, 15_002), clear({})), (error) =>
        isDatabaseFault(error, "guard"),
      );
      await releaseLease(db, yours);
      assert.equal(await acquireLease(db, mine, 15_003), true);
    });

    test("migrations run once, in order, also when many nodes start together", async () => {
      const more = [schema, counting(2), counting(3)];
      const nodes = await Promise.all(Array.from({ length: 4 }, () => engine.open()));
      const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms / 20));
      const applied = await Promise.all(
        nodes.map((node, i) => migrate(node, more, { holder: `node${i}`, now: Date.now, sleep })),
      );
      assert.equal(
        applied.reduce((a, b) => a + b),
        2,
      );
      assert.equal(await migrate(db, more, options), 0);
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await assert.rejects(
        migrate(db, [schema], options),
        /newer Selvedge has changed it \(contract/,
      );
    });

    test("a migration that fails half-way changes nothing", async () => {
      const broken: Migration = {
        part: "broken",
        number: 1,
        sql: ({ text }) => [`CREATE TABLE half (name ${text})`, "NOT SQL AT ALL"],
      };
      const known = [schema, counting(2), counting(3)];
      await assert.rejects(migrate(db, [...known, broken], options));
      const whole: Migration = { ...broken, sql: (types) => broken.sql(types).slice(0, 1) };
      assert.equal(
        await migrate(db, [...known, whole], options),
        1,
        "the table was not left behind",
      );
    });
  });
}

function counting(number: number): Migration {
  return { part: "contract", number, sql: ({ text }) => [`CREATE TABLE t${number} (a ${text})`] };
}
