/** What is read of a zone is the zone at one serial, also while it changes. */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Bound, Database } from "#db";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
import { ACCOUNT, by, intercepted, type Node, record, startNode } from "./nodes.contract.ts";
import type { Zone } from "./zone.ts";
import { readNews } from "./zone-news.ts";

after(stopOwnPostgres);

suite("news of a zone", () => {
  let node: Node;
  let zone: Zone;
  before(async () => {
    node = await startNode({ url: await freshPostgresUrl() });
    zone = await node.zones.create(ACCOUNT, "news.test", "full");
  });
  after(() => node[Symbol.asyncDispose]());

  const add = (name: string, content: string) =>
    node.records.create(zone.id, record("A", name, content), by);

  /** The database, where something happens right before the first query of records. */
  function disturbed(happens: () => Promise<unknown>): Database {
    let hasHappened = false;
    const disturb = async ({ text }: Pick<Bound, "text">) => {
      if (hasHappened || !text.postgres.includes("FROM records")) return;
      hasHappened = true;
      await happens();
    };
    return intercepted(node.db, {
      async all(query) {
        await disturb(query);
        return node.db.all(query);
      },
      async *scan(query) {
        await disturb(query);
        yield* node.db.scan(query);
      },
    });
  }

  async function namesAfter(serial: number, db = node.db) {
    const news = await readNews(db, zone.id, serial);
    const shown = [...news!.names].map(([name, records]): [string, string[]] => [
      name.replace(".news.test", ""),
      records.map(({ content }) => content).toSorted(),
    ]);
    return { serial: news!.zone.serial, names: Object.fromEntries(shown) };
  }

  test("are the names that were touched since, with all that stands there", async () => {
    const first = await add("a", "192.0.2.1");
    const second = await add("a", "192.0.2.2");
    const third = await add("b", "192.0.2.3");
    const last = await node.records.remove(zone.id, third.result.id, by);
    const { serial } = last.zone;
    assert.deepEqual(await namesAfter(first.zone.serial), {
      serial,
      names: { a: ["192.0.2.1", "192.0.2.2"], b: [] },
    });
    assert.deepEqual(await namesAfter(second.zone.serial), { serial, names: { b: [] } });
    assert.deepEqual(await namesAfter(serial), { serial, names: {} });
    assert.equal(await readNews(node.db, "0".repeat(32), 0), null);
  });

  test("do not show what happened while they were read", async () => {
    const from = (await node.zones.get(zone.id)).serial;
    const stays = await add("x", "192.0.2.1");
    const changes = await add("x", "192.0.2.2");
    const goes = await add("x", "192.0.2.3");
    const moves = await add("y", "192.0.2.4");
    const { serial } = moves.zone;
    const db = disturbed(async () => {
      await add("x", "192.0.2.9");
      await add("z", "192.0.2.9");
      const short = await add("y", "192.0.2.8");
      await node.records.edit(zone.id, changes.result.id, record("A", "x", "192.0.2.7"), by);
      await node.records.edit(zone.id, changes.result.id, record("A", "x", "192.0.2.6"), by);
      await node.records.remove(zone.id, goes.result.id, by);
      await node.records.edit(zone.id, moves.result.id, record("A", "x", "192.0.2.4"), by);
      await node.records.remove(zone.id, short.result.id, by);
    });
    assert.ok(stays.zone.serial < serial);
    assert.deepEqual(await namesAfter(from, db), {
      serial,
      names: { x: ["192.0.2.1", "192.0.2.2", "192.0.2.3"], y: ["192.0.2.4"] },
    });
    const now = await node.zones.get(zone.id);
    assert.deepEqual(await namesAfter(serial), {
      serial: now.serial,
      names: { x: ["192.0.2.1", "192.0.2.4", "192.0.2.6", "192.0.2.9"], y: [], z: ["192.0.2.9"] },
    });
  });

  test("never hold records of the zone that took its number", async () => {
    const old = await node.zones.create(ACCOUNT, "number.test", "full");
    await node.records.create(old.id, record("A", "www", "192.0.2.1"), by);
    let taker: Zone | null = null;
    const db = disturbed(async () => {
      await node.zones.remove(old.id);
      taker = await node.zones.create(ACCOUNT, "number.test", "full");
      await node.records.create(taker.id, record("A", "www", "192.0.2.2"), by);
    });
    const news = await readNews(db, old.id, 0);
    assert.equal(taker!.number, old.number);
    assert.deepEqual(news!.names, new Map([["www.number.test", []]]));
  });

  for (const count of [700, 1_400]) {
    test(`hold ${count} names, and not what happened meanwhile`, async () => {
      const { id } = await node.zones.create(ACCOUNT, `names${count}.test`, "full");
      const posts = Array.from({ length: count }, (_, i) => record("A", `n${i}`, "192.0.2.1"));
      const batch = { deletes: [], patches: [], puts: [], posts };
      const { result } = await node.records.batch(id, batch, by);
      const db = disturbed(async () => {
        await node.records.create(id, record("A", "n1", "192.0.2.2"), by);
        await node.records.remove(id, result.posts[2]!.id, by);
      });
      const news = await readNews(db, id, 0);
      assert.equal(news!.names.size, count);
      for (const [name, records] of news!.names) {
        assert.deepEqual(
          records.map((one) => [one.name, one.content]),
          [[name, "192.0.2.1"]],
        );
      }
    });
  }

  test("hold more changes than are read at a time", async () => {
    const from = (await node.zones.get(zone.id)).serial;
    await Promise.all(Array.from({ length: 250 }, (_, i) => add(`k${i}`, "192.0.2.1")));
    assert.equal(Object.keys((await namesAfter(from)).names).length, 250);
  });
});
