/** Zones and records on both engines: rules, atomic changes, history. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import fc from "fast-check";
import { type Database, migrate, openDatabase, statement, text } from "#db";
import { ranges } from "#kit/cidr.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
import { ZoneFault, type ZoneFaultKind } from "./fault.ts";
import type { ZoneRecord } from "./record.ts";
import type { RecordFields } from "./record-input.ts";
import { Records } from "./records.ts";
import { zoneMigrations } from "./schema.ts";
import type { Zone } from "./zone.ts";
import { importZoneFile } from "./zone-transfer.ts";
import { Zones } from "./zones.ts";

const is = (kind: ZoneFaultKind) => (error: unknown) =>
  error instanceof ZoneFault && error.kind === kind;
const ACCOUNT = "a".repeat(32);
const by = { actor: "user:test" };

/** Zones belong to accounts, whose tables are another part's. */
const accountsTable = {
  part: "accounts",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY)`,
    `INSERT INTO accounts (id) VALUES ('${ACCOUNT}')`,
  ],
};

const record = (type: string, name: string, content: string): RecordFields => ({
  type,
  name,
  input: { content },
});

for (const engine of ["sqlite", "postgres"] as const) {
  suite(`zones on ${engine}`, () => {
    let folder: string;
    let url: string;
    let db: Database;
    let zones: Zones;
    let records: Records;
    let clock = 1_700_000_000_000;
    const now = () => clock;
    const open = () => openDatabase({ url, dataDir: folder, onError: assert.fail });

    function node(on: Database, mostRecords = 500) {
      const zones = new Zones(on, now);
      const platform = ranges(["203.0.113.0/24"]);
      const nameservers = ["ns1.selvedge.test", "ns2.selvedge.test"];
      const records = new Records({ db: on, zones, now, mostRecords, platform, nameservers });
      return { zones, records };
    }

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "selvedge-zones-"));
      url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
      db = await open();
      const options = { holder: "test", now: Date.now, sleep: async () => {} };
      await migrate(db, [accountsTable, ...zoneMigrations], options);
      ({ zones, records } = node(db));
    });
    after(async () => {
      await db[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    let made = 0;
    const freshZone = () => zones.create(ACCOUNT, `zone${++made}.test`, "full");

    async function state(zone: Zone, from = records): Promise<Map<string, string>> {
      const all: ZoneRecord[] = [];
      for await (const stretch of from.all(zone)) all.push(...stretch);
      // A revert is a change of its own, so the time of the last one is not part of the state.
      return new Map(all.map((one) => [one.id, JSON.stringify({ ...one, modifiedAt: 0 })]));
    }

    test("a zone has one name, whoever asks first", async () => {
      const names = ["one.test", "ONE.test.", "one.test"];
      const outcomes = await Promise.allSettled(
        names.map((name) => zones.create(ACCOUNT, name, "full")),
      );
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected")
          assert.ok(is("zone-exists")(outcome.reason), String(outcome.reason));
      }
      await assert.rejects(zones.create(ACCOUNT, "bad name", "full"), is("bad-zone-name"));
      assert.equal((await zones.create(ACCOUNT, "Bücher.test", "full")).name, "xn--bcher-kva.test");
    });

    test("zones made at once have numbers of their own", async () => {
      const many = await Promise.all(Array.from({ length: 12 }, freshZone));
      assert.equal(new Set(many.map(({ number }) => number)).size, 12);
    });

    test("every change moves the serial up and counts the records", async () => {
      const zone = await freshZone();
      const serials = [zone.serial];
      for (const name of ["a", "b", "c"]) {
        const changed = await records.create(zone.id, record("A", name, "192.0.2.1"), by);
        serials.push(changed.zone.serial);
      }
      assert.deepEqual(
        serials,
        serials.toSorted((x, y) => x - y),
      );
      assert.equal(new Set(serials).size, 4);
      assert.equal((await zones.get(zone.id)).records, 3);
    });

    test("a change by who saw the zone before another change happens on top of that one", async () => {
      const seen = await freshZone();
      await records.create(seen.id, record("A", "a", "192.0.2.1"), by);
      const beside = record("CNAME", "a", "example.net");
      await assert.rejects(records.create(seen.id, beside, { ...by, seen }), is("host-exists"));
      const { zone } = await records.create(seen.id, record("A", "b", "192.0.2.1"), {
        ...by,
        seen,
      });
      assert.deepEqual(await zones.get(seen.id), zone);
      assert.equal(zone.records, 2);
    });

    test("many changes of one zone at once all happen, each with its serial", async () => {
      const zone = await freshZone();
      const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
      const outcomes = await Promise.all(
        names.map((name) => records.create(zone.id, record("A", name, "192.0.2.1"), by)),
      );
      assert.equal(new Set(outcomes.map((changed) => changed.zone.serial)).size, 40);
      assert.equal((await zones.get(zone.id)).records, 40);
      assert.equal((await records.history(await zones.get(zone.id), 2 ** 32, 100)).length, 40);
    });

    test("nodes that change one zone at once do not undo each other", async () => {
      const zone = await freshZone();
      await using otherDb = await open();
      const other = node(otherDb);
      const create = (on: Records, name: string) =>
        on.create(zone.id, record("A", name, "192.0.2.1"), by);
      await Promise.all(
        Array.from({ length: 10 }, (_, i) => [
          create(records, `x${i}`),
          create(other.records, `y${i}`),
        ]).flat(),
      );
      assert.equal((await state(zone)).size, 20);
      assert.equal((await zones.get(zone.id)).records, 20);
    });

    test("of two records that exclude each other, one is made", async () => {
      const zone = await freshZone();
      const outcomes = await Promise.allSettled([
        records.create(zone.id, record("CNAME", "www", "a.example"), by),
        records.create(zone.id, record("A", "www", "192.0.2.1"), by),
      ]);
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    });

    test("a batch that fails anywhere changes nothing", async () => {
      const zone = await freshZone();
      const { result: old } = await records.create(zone.id, record("A", "old", "192.0.2.1"), by);
      const before = await state(zone);
      const batch = {
        deletes: [old.id],
        patches: [],
        puts: [],
        posts: [record("A", "new", "192.0.2.1"), record("A", "new", "192.0.2.1")],
      };
      await assert.rejects(records.batch(zone.id, batch, by), is("identical-record"));
      assert.deepEqual(await state(zone), before);
      // What was deleted within the batch makes room for what follows.
      const posts = [record("CNAME", "old", "x.example")];
      await records.batch(zone.id, { ...batch, posts }, by);
      assert.equal((await state(zone)).size, 1);
    });

    test("a dry run checks everything, tells the difference and changes nothing", async () => {
      const zone = await freshZone();
      const dry = { ...by, dryRun: true };
      const { changes } = await records.create(zone.id, record("A", "www", "192.0.2.1"), dry);
      assert.equal(changes.length, 1);
      assert.equal(changes[0]!.after?.name, `www.${zone.name}`);
      assert.equal((await state(zone)).size, 0);
      assert.equal((await zones.get(zone.id)).serial, zone.serial);
      await assert.rejects(
        records.create(zone.id, record("A", "p", "203.0.113.9"), dry),
        is("platform-address"),
      );
    });

    test("a zone can be brought back to any of its serials", async () => {
      const names = fc.constantFrom("@", "www", "mail", "*.wild", "deep.er");
      const contents = fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3");
      const step = fc.oneof(
        fc.record({ kind: fc.constant("add" as const), name: names, content: contents }),
        fc.record({
          kind: fc.constant("edit" as const),
          pick: fc.nat(),
          content: contents,
          ttl: fc.constantFrom(60, 300),
        }),
        fc.record({ kind: fc.constant("remove" as const), pick: fc.nat() }),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 12 }),
          fc.nat(),
          async (steps, pick) => {
            const zone = await freshZone();
            const seen: [serial: number, state: Map<string, string>][] = [[zone.serial, new Map()]];
            for (const one of steps) {
              clock += 1000;
              const ids = [...(await state(zone)).keys()].toSorted();
              const id = "pick" in one ? ids[one.pick % Math.max(1, ids.length)] : undefined;
              try {
                if (one.kind === "add")
                  await records.create(zone.id, record("A", one.name, one.content), by);
                else if (id === undefined) continue;
                else if (one.kind === "remove") await records.remove(zone.id, id, by);
                else
                  await records.edit(
                    zone.id,
                    id,
                    { input: { content: one.content }, ttl: one.ttl },
                    by,
                  );
              } catch (error) {
                assert.ok(is("identical-record")(error), String(error));
              }
              seen.push([(await zones.get(zone.id)).serial, await state(zone)]);
            }
            const [serial, then] = seen[pick % seen.length]!;
            await records.revert(zone.id, serial, by);
            assert.deepEqual(await state(zone), then);
          },
        ),
        { numRuns: engine === "sqlite" ? 30 : 10 },
      );
    });

    test("a revert to what is there already changes nothing, and leaves alone what is as it was", async () => {
      const zone = await freshZone();
      const { id } = (await records.create(zone.id, record("A", "a", "192.0.2.1"), by)).result;
      const { serial } = (await records.create(zone.id, record("A", "b", "192.0.2.1"), by)).zone;
      for (const content of ["192.0.2.2", "192.0.2.1"]) {
        await records.edit(zone.id, id, { input: { content } }, by);
      }
      const before = await zones.get(zone.id);
      for (const to of [before.serial, serial]) {
        for (const dryRun of [true, false]) {
          const same = await records.revert(zone.id, to, { ...by, dryRun });
          assert.deepEqual([same.changes, same.result], [[], 0]);
          assert.equal((await zones.get(zone.id)).serial, before.serial);
        }
      }
      await records.create(zone.id, record("A", "c", "192.0.2.1"), by);
      const { changes, result } = await records.revert(zone.id, serial, by);
      const names = changes.map((change) => change.before?.name);
      assert.deepEqual([names, result], [[`c.${zone.name}`], 1]);
    });

    test("an import is one serial, all or nothing, and passes over what is there", async () => {
      const zone = await freshZone();
      const load = (file: string) =>
        records.change(zone.id, by, (draft, rules) =>
          importZoneFile(draft, rules, Buffer.from(file), false),
        );
      const lines = Array.from({ length: 200 }, (_, i) => `h${i} 300 IN A 192.0.2.${i % 250}`);
      const first = await load(
        `$TTL 120\n@ IN SOA ns1 root 1 2 3 4 5\n@ NS ns1.selvedge.test.\n${lines.join("\n")}\n`,
      );
      assert.deepEqual(first.result, { parsed: 200, added: 200 });
      assert.deepEqual((await load(lines.slice(0, 5).join("\n"))).result, { parsed: 5, added: 0 });
      const before = await state(zone);
      await assert.rejects(
        load("good A 192.0.2.1\nbad A 1.2.3\n\nworse MX mail\n"),
        (error: Error) => {
          assert.ok(is("bad-zone-file")(error));
          assert.match(error.message, /line 2: .*1\.2\.3.*line 4: /);
          return true;
        },
      );
      assert.deepEqual(await state(zone), before);
      assert.equal((await records.history(await zones.get(zone.id), 2 ** 32, 10)).length, 1);
    });

    test("an import takes TTLs that no record may have to the nearest that one may", async () => {
      const zone = await freshZone();
      const ttls = [0, 1, 2, 59, 60, 86_400, 86_401, 2_147_483_647];
      const file = ttls.map((ttl) => `t${ttl} ${ttl} IN TXT "x"`).join("\n");
      const load = () =>
        records.change(zone.id, by, (draft, rules) =>
          importZoneFile(draft, rules, Buffer.from(file), false),
        );
      assert.deepEqual((await load()).result, { parsed: 8, added: 8 });
      const kept = async (ttl: number) => (await records.at(zone, `t${ttl}.${zone.name}`))[0]!.ttl;
      const taken = await Promise.all(ttls.map(kept));
      assert.deepEqual(taken, [60, 1, 60, 60, 60, 86_400, 86_400, 86_400]);
      await zones.editSettings(zone.id, [["ttl_floor", 30]]);
      for (const { id } of await records.page(zone, "name asc", { offset: 0, limit: 10 })) {
        await records.remove(zone.id, id, by);
      }
      await load();
      assert.deepEqual([await kept(0), await kept(2), await kept(59)], [30, 30, 59]);
    });

    test("a CNAME that leads back to itself is refused, however it comes about", async () => {
      const zone = await freshZone();
      const at = (name: string) => `${name}.${zone.name}`;
      const cname = (name: string, target: string) => record("CNAME", name, at(target));
      await records.create(zone.id, cname("a", "b"), by);
      const { result: b } = await records.create(zone.id, cname("b", "c"), by);
      await assert.rejects(records.create(zone.id, cname("c", "a"), by), is("own-target"));
      await assert.rejects(
        records.edit(zone.id, b.id, { input: { content: at("a") } }, by),
        is("own-target"),
      );
      const { result: d } = await records.create(zone.id, cname("d", "a"), by);
      await assert.rejects(
        records.edit(zone.id, d.id, { name: "c", input: {} }, by),
        is("own-target"),
      );
      const posts = [cname("x", "y"), cname("y", "x")];
      const batch = { deletes: [], patches: [], puts: [], posts };
      await assert.rejects(records.batch(zone.id, batch, by), is("own-target"));
      const file = `x CNAME y\ny CNAME x\n`;
      const load = records.change(zone.id, by, (draft, rules) =>
        importZoneFile(draft, rules, Buffer.from(file), false),
      );
      await assert.rejects(load, is("bad-zone-file"));
      assert.equal((await state(zone)).size, 3);
      // What leads out of the zone, or to an end within it, is no loop.
      await records.create(zone.id, record("CNAME", "out", "out.example.net"), by);
      await records.create(zone.id, record("A", "c", "192.0.2.1"), by);
    });

    test("a zone holds so many records and no more", async () => {
      const zone = await freshZone();
      const posts = Array.from({ length: 501 }, (_, i) => record("A", `h${i}`, "192.0.2.1"));
      const batch = { deletes: [], patches: [], puts: [], posts };
      await assert.rejects(records.batch(zone.id, batch, by), is("too-many-records"));
      await records.batch(zone.id, { ...batch, posts: posts.slice(1) }, by);
      await assert.rejects(
        records.create(zone.id, record("A", "more", "192.0.2.1"), by),
        is("too-many-records"),
      );
    });

    test("a removed zone leaves nothing behind", async () => {
      const zone = await freshZone();
      await records.create(zone.id, record("A", "www", "192.0.2.1"), by);
      await zones.remove(zone.id);
      await assert.rejects(zones.get(zone.id), is("no-such-zone"));
      const left = statement({
        sql: `SELECT 'r' FROM records WHERE name LIKE '%.${zone.name}' UNION ALL
              SELECT 'h' FROM zone_history WHERE zone = ${zone.number}`,
        gives: { kind: text },
      });
      assert.deepEqual(await db.all(left({})), []);
    });

    test("what delegations do to records is told of those that are asked about", async () => {
      const zone = await freshZone();
      const make = async (type: string, name: string, content: string) =>
        (await records.create(zone.id, record(type, name, content), by)).result;
      const ns = await make("NS", "sub", `ns1.sub.${zone.name}`);
      const glue = await make("A", "ns1.sub", "192.0.2.1");
      const deep = await make("NS", "a.sub", `ns1.a.sub.${zone.name}`);
      const dead = await make("AAAA", "ns1.a.sub", "2001:db8::1");
      const text = await make("TXT", "_x.sub", "text");
      await make("TXT", "_x.sub", "more");
      const free = await make("A", "subx", "192.0.2.1");
      const own = await make("NS", "@", "ns.example.net");
      const told = await records.shadows(zone, [ns, glue, deep, dead, text, free, own]);
      const nothing = { shadowedBy: [], isGlue: false, isDeadGlue: false, shadows: 0 };
      const hidden = { ...nothing, shadowedBy: [ns.id] };
      assert.deepEqual(told.get(ns.id), { ...nothing, shadows: 5 });
      assert.deepEqual(told.get(glue.id), { ...hidden, isGlue: true });
      assert.deepEqual(told.get(deep.id), hidden);
      const both = [ns.id, deep.id];
      const dying = { ...nothing, shadowedBy: both, isGlue: true, isDeadGlue: true };
      assert.deepEqual(told.get(dead.id), dying);
      assert.deepEqual(told.get(text.id), hidden);
      assert.deepEqual(told.get(free.id), nothing);
      assert.deepEqual(told.get(own.id), nothing);
      assert.deepEqual(await records.shadows(zone, [text]), new Map([[text.id, hidden]]));
      // More delegations than are read at once: each name above a record is asked for.
      const posts = Array.from({ length: 400 }, (_, i) =>
        [1, 2, 3].map((n) => record("NS", `d${i}`, `ns${n}.example.net`)),
      ).flat();
      const batch = { deletes: [], patches: [], puts: [], posts };
      const { records: plenty } = node(db, 5_000);
      await plenty.batch(zone.id, batch, by);
      const [one] = await plenty.at(zone, `d7.${zone.name}`);
      const below = await plenty.create(zone.id, record("A", "x.d7", "192.0.2.1"), by);
      const seen = await plenty.shadows(zone, [below.result, one!, glue]);
      assert.equal(seen.get(below.result.id)!.shadowedBy.length, 3);
      assert.deepEqual(seen.get(one!.id), { ...nothing, shadows: 1 });
      assert.deepEqual(seen.get(glue.id), { ...hidden, isGlue: true });
    });

    test("a zone is pending for a while, or until it is activated", async () => {
      const [zone, other] = [await freshZone(), await freshZone()];
      assert.deepEqual([zone.status, zone.activatedAt], ["pending", null]);
      clock += 59_000;
      assert.equal((await zones.get(zone.id)).status, "pending");
      const active = await zones.activate(other.id);
      assert.deepEqual([active.status, active.activatedAt], ["active", clock]);
      clock += 1_000;
      const settled = await zones.get(zone.id);
      assert.deepEqual([settled.status, settled.activatedAt], ["active", clock]);
      assert.deepEqual([settled.serial, settled.modifiedAt], [zone.serial, zone.modifiedAt]);
      clock += 5_000;
      const edited = await zones.edit(zone.id, { paused: true });
      assert.deepEqual([edited.status, edited.activatedAt], ["active", settled.activatedAt]);
      assert.equal((await zones.get(zone.id)).activatedAt, settled.activatedAt);
      assert.equal((await zones.activate(zone.id)).activatedAt, settled.activatedAt);
      const listed = (await zones.list([ACCOUNT])).filter(({ id }) => id === zone.id);
      assert.deepEqual(listed, [await zones.get(zone.id)]);
    });

    test("settings are checked, and flattening has two names for one thing", async () => {
      const zone = await freshZone();
      await assert.rejects(zones.editSettings(zone.id, [["http2", "maybe"]]), is("bad-setting"));
      await assert.rejects(zones.editSettings(zone.id, [["nope", "on"]]), is("no-such-setting"));
      const flat = await zones.editSettings(zone.id, [["cname_flattening", "flatten_all"]]);
      assert.equal(flat.dnsSettings.flattenAllCnames, true);
      const back = await zones.editDnsSettings(zone.id, (settings) => ({
        ...settings,
        flattenAllCnames: false,
      }));
      assert.equal(back.settings.cname_flattening?.value, "flatten_at_root");
      assert.ok(back.serial > flat.serial);
      // What is changed beside it does not touch it.
      const fresh = await freshZone();
      const slow = await zones.editDnsSettings(fresh.id, (settings) => ({
        ...settings,
        nsTtl: 60,
      }));
      assert.deepEqual(slow.settings, {});
      const both = await zones.editSettings(fresh.id, [
        ["ssl", "strict"],
        ["cname_flattening", "flatten_all"],
      ]);
      assert.deepEqual([both.dnsSettings.flattenAllCnames, both.dnsSettings.nsTtl], [true, 60]);
      const kept = await zones.editSettings(fresh.id, [["ssl", "full"]]);
      assert.equal(kept.dnsSettings.flattenAllCnames, true);
    });
  });
}

after(stopOwnPostgres);
