/** How changes of a zone are written, on a database that only takes note. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bound, Database } from "#db";
import { ranges } from "#kit/cidr.ts";
import { defaultDnsSettings } from "./dns-settings.ts";
import type { ZoneRecord } from "./record.ts";
import type { Zone } from "./zone.ts";
import { ZoneChanges } from "./zone-changes.ts";
import type { Zones } from "./zones.ts";

const zone: Zone = {
  id: "0".repeat(32),
  number: 1,
  accountId: "a".repeat(32),
  name: "example.com",
  status: "active",
  type: "full",
  paused: false,
  vanityNameServers: [],
  settings: {},
  dnsSettings: defaultDnsSettings,
  serial: 1,
  firstSerial: 1,
  records: 0,
  createdAt: 0,
  modifiedAt: 0,
  activatedAt: 0,
};

const record = (i: number): ZoneRecord => ({
  id: i.toString(16).padStart(32, "0"),
  zone: 1,
  name: `h${i}.example.com`,
  type: "A",
  content: "192.0.2.1",
  priority: null,
  ttl: 1,
  proxied: false,
  createdAt: 0,
  modifiedAt: 0,
  extra: null,
});

/** Changes of an empty zone, and the steps of each write. */
function changesOf(empty: Zone) {
  const written: (readonly Bound[])[] = [];
  const db = {
    all: async () => [],
    first: async () => null,
    writeAll: async (steps: Iterable<Bound>) => {
      written.push([...steps]);
    },
  };
  const zones = { get: async () => empty, announce: () => {} };
  const changes = new ZoneChanges({
    db: db as unknown as Database,
    zones: zones as unknown as Zones,
    now: () => 1_700_000_000_000,
    mostRecords: 1_000_000,
    platform: ranges([]),
    nameservers: [],
  });
  return { changes, written };
}

test("a change of more records than a call has room for as arguments is written whole", async () => {
  const { changes, written } = changesOf(zone);
  const many = 140_000;
  const made = await changes.make(zone.id, { actor: "user:test" }, async (draft) => {
    for (let i = 0; i < many; i++) await draft.add(record(i));
    return "made";
  });
  assert.equal(made.result, "made");
  assert.equal(made.zone.records, many);
  // The zone's own row before them, the history behind.
  assert.deepEqual(
    written.map(({ length }) => length),
    [many + 2],
  );
});

test("of changes that wait together, each has an outcome of its own", async () => {
  const { changes, written } = changesOf(zone);
  const add = (i: number) =>
    changes.make(zone.id, { actor: "user:test" }, (draft) => draft.add(record(i)));
  const outcomes = await Promise.allSettled([add(1), add(2), add(2), add(3)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(written.flat().length, 3 * 2 + written.length);
});

test("a zone that was read a moment ago is read again only when it has changed since", async () => {
  const { changes, written } = changesOf({ ...zone, serial: 7 });
  const add = (i: number, seen: Zone) =>
    changes.make(zone.id, { actor: "user:test", seen }, (draft) => draft.add(record(i)));
  const guard = () => written.at(-1)![0]!.values.at(-1);
  await add(1, { ...zone, serial: 6 });
  assert.equal(guard(), 6);
  // The second waits for the first, so what it saw is old.
  await Promise.all([add(2, { ...zone, serial: 6 }), add(3, { ...zone, serial: 6 })]);
  assert.equal(guard(), 7);
});
