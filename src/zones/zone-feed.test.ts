/** Nodes that share a database follow each other's changes. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type Database, integer, isDatabaseFault, statement, text } from "#db";
import { until } from "../../test/support/patience.ts";
import {
  freshDatabase,
  freshPostgresUrl,
  startPostgres,
  stopOwnPostgres,
} from "../../test/support/postgres.ts";
import {
  ACCOUNT,
  by,
  checkTold,
  deaf,
  heldBy,
  intercepted,
  type Node,
  record,
  startNode,
} from "./nodes.contract.ts";
import { ZoneFault } from "./fault.ts";
import type { Zone } from "./zone.ts";
import { importZoneFile } from "./zone-transfer.ts";

after(stopOwnPostgres);

for (const way of ["signals", "the log alone"] as const) {
  suite(`by ${way} a node follows`, () => {
    let one: Node;
    let two: Node;
    let made = 0;
    const freshZone = () => one.zones.create(ACCOUNT, `zone${++made}.test`, "full");
    const followed = (zone: Zone) => until(() => two.recorder.serialOf(zone) === zone.serial);

    before(async () => {
      const url = await freshPostgresUrl();
      const options = way === "signals" ? { url } : { url, through: deaf };
      one = await startNode(options);
      two = await startNode(options);
    });
    after(async () => {
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
    });

    test("a zone that is made, changed in its records and its settings, and removed", async () => {
      const zone = await freshZone();
      await followed(zone);
      const added = await one.records.create(zone.id, record("A", "www", "192.0.2.1"), by);
      await followed(added.zone);
      assert.deepEqual(two.recorder.at(zone, `www.${zone.name}`), ["192.0.2.1"]);
      await followed(await one.zones.edit(zone.id, { paused: true }));
      assert.equal(two.recorder.zones.get(zone.id)?.zone.paused, true);
      const moved = await one.records.edit(
        zone.id,
        added.result.id,
        record("A", "else", "192.0.2.2"),
        by,
      );
      await followed(moved.zone);
      assert.deepEqual(two.recorder.at(zone, `www.${zone.name}`), []);
      assert.deepEqual(two.recorder.at(zone, `else.${zone.name}`), ["192.0.2.2"]);
      await checkTold(two, zone);
      await one.zones.remove(zone.id);
      await until(() => two.recorder.removals.includes(zone.id));
    });

    test("a batch, whole", async () => {
      const zone = await freshZone();
      const posts = Array.from({ length: 600 }, (_, i) => record("A", `n${i}`, "192.0.2.1"));
      const batch = await one.records.batch(
        zone.id,
        { deletes: [], patches: [], puts: [], posts },
        by,
      );
      await followed(batch.zone);
      const deletes = batch.result.posts.slice(0, 300).map(({ id }) => id);
      const puts = batch.result.posts
        .slice(300)
        .map(({ id }, i) => ({ ...record("A", `n${i + 300}`, "192.0.2.2"), id }));
      const next = await one.records.batch(zone.id, { deletes, patches: [], puts, posts: [] }, by);
      await followed(next.zone);
      await checkTold(two, zone);
      assert.deepEqual(two.recorder.heldOf(zone), await heldBy(one, zone));
    });

    test("an import of 5,000 names, in one call", async (t) => {
      const zone = await freshZone();
      await followed(zone);
      const lines = Array.from({ length: 5_000 }, (_, i) => `n${i} 300 IN A 192.0.2.${i % 250}`);
      const calls = two.recorder.told.length;
      const file = Buffer.from(lines.join("\n"));
      const { zone: filled } = await one.records.change(zone.id, by, (draft, rules) =>
        importZoneFile(draft, rules, file, false),
      );
      const start = performance.now();
      await followed(filled);
      t.diagnostic(`followed ${Math.round(performance.now() - start)} ms after the commit`);
      assert.equal(two.recorder.told.length, calls + 1);
      assert.deepEqual(two.recorder.heldOf(zone), await heldBy(one, zone));
    });

    test("a zone that takes the name of one that was removed", async () => {
      const name = `again${++made}.test`;
      const ids: string[] = [];
      let last: Zone | null = null;
      for (let round = 0; round < 10; round++) {
        last = await one.zones.create(ACCOUNT, name, "full");
        await one.records.create(last.id, record("A", "www", `192.0.2.${round}`), by);
        if (round % 3 === 0) await followed(await one.zones.get(last.id));
        ids.push(last.id);
        if (round < 9) await one.zones.remove(last.id);
      }
      await followed(await one.zones.get(last!.id));
      assert.deepEqual(two.recorder.at(last!, `www.${name}`), ["192.0.2.9"]);
      const known = [...two.recorder.zones.values()].filter(({ zone }) => zone.name === name);
      assert.equal(known.length, 1);
    });

    test("changes that both make to the same zones at once; each sees whole changes only", async (t) => {
      const shared = [await freshZone(), await freshZone(), await freshZone()];
      await Promise.all(shared.map(followed));
      const start = performance.now();
      const workers = [one, two].flatMap((node, n) =>
        Array.from({ length: 4 }, (_, w) => changeAtRandom(node, shared, 40, 10 * n + w)),
      );
      const changes = (await Promise.all(workers)).reduce((a, b) => a + b);
      for (const node of [one, two]) {
        for (const { id } of shared) {
          const zone = await node.zones.get(id);
          await until(() => node.recorder.serialOf(zone) === zone.serial);
          assert.deepEqual(node.recorder.heldOf(zone), await heldBy(node, zone));
          await checkTold(node, zone);
        }
      }
      t.diagnostic(`${changes} changes in ${Math.round(performance.now() - start)} ms`);
    });
  });
}

/** Makes random changes, and holds the node to knowing each when it is made. Returns how many there were. */
async function changeAtRandom(
  { zones, records, recorder }: Node,
  shared: readonly Zone[],
  rounds: number,
  seed: number,
): Promise<number> {
  const random = randomFrom(seed);
  const name = () => `n${random(6)}`;
  const fields = () => record("A", name(), `192.0.2.${random(200)}`);
  let changes = 0;
  for (let round = 0; round < rounds; round++) {
    const { id } = shared[random(shared.length)]!;
    const there = [...recorder.zones.get(id)!.names.values()].flat();
    const some = there.length === 0 ? [] : [there[random(there.length)]!.id];
    try {
      const { zone } = await [
        () => records.create(id, fields(), by),
        () => records.remove(id, some[0] ?? "", by),
        () => records.overwrite(id, some[0] ?? "", fields(), by),
        () =>
          records.batch(
            id,
            { deletes: some, patches: [], puts: [], posts: [fields(), fields()] },
            by,
          ),
        async () => ({ zone: await zones.edit(id, { paused: random(2) === 0 }) }),
      ][random(5)]!();
      assert.ok(recorder.serialOf(zone) >= zone.serial, "a node knows what it has changed");
      changes++;
    } catch (error) {
      // Twins and records that another has removed; and guards that never hold on a zone this busy.
      if (!(error instanceof ZoneFault) && !isDatabaseFault(error, "guard")) throw error;
    }
  }
  return changes;
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

test("what others change between a node's load and its first look is not missed", async () => {
  const url = await freshPostgresUrl();
  await using one = await startNode({ url });
  const zone = await one.zones.create(ACCOUNT, "early.test", "full");
  await one.records.create(zone.id, record("A", "before", "192.0.2.1"), by);
  const gone = await one.zones.create(ACCOUNT, "gone.test", "full");
  let fresh: Zone | null = null;
  await using two = await startNode({
    url,
    through: deaf,
    pollMs: 60_000, // The first look must do.
    async meanwhile() {
      await one.records.create(zone.id, record("A", "meanwhile", "192.0.2.2"), by);
      await one.zones.remove(gone.id);
      fresh = await one.zones.create(ACCOUNT, "fresh.test", "full");
      await one.records.create(fresh.id, record("A", "www", "192.0.2.3"), by);
    },
  });
  assert.deepEqual(two.recorder.removals, [gone.id]);
  for (const each of [zone, fresh!]) {
    assert.deepEqual(two.recorder.heldOf(each), await heldBy(one, each));
  }
});

test("a sweep over all zones finds what the log does not have", async () => {
  const url = await freshPostgresUrl();
  await using two = await startNode({ url, through: deaf, pollMs: 20, sweepMs: 100 });
  const alone = (db: Database) => intercepted(db, { shared: false });
  await using one = await startNode({ url, through: alone });
  const zone = await one.zones.create(ACCOUNT, "unlogged.test", "full");
  await until(() => two.recorder.serialOf(zone) === zone.serial);
  const added = await one.records.create(zone.id, record("A", "a", "192.0.2.1"), by);
  await until(() => two.recorder.serialOf(zone) === added.zone.serial);
  await checkTold(two, zone);
  await one.zones.remove(zone.id);
  await until(() => two.recorder.removals.includes(zone.id));
});

test("a change that took long to be committed is found behind later ones", async () => {
  const url = await freshPostgresUrl();
  await using two = await startNode({ url, through: deaf, pollMs: 20 });
  const alone = (db: Database) => intercepted(db, { shared: false });
  await using one = await startNode({ url, through: alone });
  const addToLog = statement({
    sql: `INSERT INTO zone_log (id, zone_id, serial, at) VALUES (:zone, :zone, :serial, :at)`,
    takes: { zone: text, serial: integer, at: integer },
  });
  const early = await one.zones.create(ACCOUNT, "early.test", "full");
  const late = await one.zones.create(ACCOUNT, "late.test", "full");
  const now = Date.now();
  await one.db.write(addToLog({ zone: late.id, serial: late.serial, at: now }));
  await until(() => two.recorder.serialOf(late) === late.serial);
  assert.equal(two.recorder.serialOf(early), 0);
  await one.db.write(addToLog({ zone: early.id, serial: early.serial, at: now - 8_000 }));
  await until(() => two.recorder.serialOf(early) === early.serial);
});

test("the log keeps an hour of changes", async () => {
  const url = await freshPostgresUrl();
  await using one = await startNode({ url, pollMs: 20, sweepMs: 50 });
  const zone = await one.zones.create(ACCOUNT, "old.test", "full");
  const made = Date.now();
  await until(() => Date.now() > made); // The times in the log tell the two apart.
  await one.records.create(zone.id, record("A", "a", "192.0.2.1"), by);
  const times = statement({ sql: "SELECT at FROM zone_log ORDER BY at", gives: { at: integer } });
  const age = statement({
    sql: "UPDATE zone_log SET at = at - 3600000 + :left WHERE at = :at",
    takes: { at: integer, left: integer },
  });
  const [first, second] = await one.db.all(times({}));
  assert.ok(Math.abs(first!.at - Date.now()) < 60_000, "in milliseconds since 1970");
  await one.db.write(age({ at: first!.at, left: 0 }), age({ at: second!.at, left: 60_000 }));
  let left: readonly { at: number }[] = [];
  const look = async () => void (left = await one.db.all(times({})));
  for (await look(); left.length > 1; await look());
  assert.deepEqual(left, [{ at: second!.at - 3_540_000 }]);
});

test("an embedded database has no log, and no others to follow", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-feed-"));
  await using one = await startNode({ url: `sqlite:${join(folder, "test.db")}` });
  const zone = await one.zones.create(ACCOUNT, "alone.test", "full");
  const added = await one.records.create(zone.id, record("A", "a", "192.0.2.1"), by);
  await one.zones.edit(zone.id, { paused: true });
  assert.deepEqual(one.recorder.at(zone, "a.alone.test"), [added.result.content]);
  await one.zones.remove(zone.id);
  assert.deepEqual(one.recorder.removals, [zone.id]);
  const count = statement({ sql: "SELECT COUNT(*) FROM zone_log", gives: { rows: integer } });
  assert.deepEqual(await one.db.first(count({})), { rows: 0 });
  await rm(folder, { recursive: true });
});

test("when the database goes away and comes back, a node goes on following", async () => {
  await using postgres = await startPostgres();
  const url = await freshDatabase(postgres.socketDir);
  await using one = await startNode({ url });
  let attempts = 0;
  const counted = (db: Database) =>
    intercepted(db, {
      all(query) {
        attempts++;
        return db.all(query);
      },
    });
  await using two = await startNode({ url, through: counted, pollMs: 20 });
  const zone = await one.zones.create(ACCOUNT, "outage.test", "full");
  await until(() => two.recorder.serialOf(zone) === zone.serial);
  await postgres.stop();
  const linesAbout = (words: string) => two.lines.filter((line) => line.includes(words)).length;
  await until(() => linesAbout("cannot be followed") > 0);
  const before = attempts;
  await until(() => attempts >= before + 4);
  assert.equal(linesAbout("cannot be followed"), 1, "an outage is logged once");
  await postgres.start();
  const { zone: changed } = await one.records.create(zone.id, record("A", "a", "192.0.2.1"), by);
  await until(() => two.recorder.serialOf(zone) === changed.serial);
  assert.deepEqual(two.recorder.at(zone, "a.outage.test"), ["192.0.2.1"]);
  await until(() => linesAbout("followed again") === 1);
});
