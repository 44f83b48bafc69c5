import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Zone, ZoneRecord } from "#zones";
import { ProxiedNames } from "./proxied-names.ts";

/** Zones in memory, with records that a test can change; each change moves the serial, as in the real ones. */
class World {
  readonly zones = new Map<string, Zone>();
  readonly records = new Map<string, ZoneRecord[]>();
  readonly reads: string[] = [];
  readonly names = new ProxiedNames({
    recordsAt: async (zone, name) => {
      this.reads.push(name);
      await this.pause;
      return this.records.get(`${zone.id} ${name}`) ?? [];
    },
  });
  pause: Promise<void> = Promise.resolve();

  zone(name: string, change: Partial<Zone> = {}): Zone {
    const serial = (this.zones.get(name)?.serial ?? 0) + 1;
    const zone = { id: `id of ${name}`, name, paused: false, serial, ...change } as Zone;
    this.zones.set(name, zone);
    return zone;
  }

  put(zone: Zone, name: string, ...records: Partial<ZoneRecord>[]): void {
    this.records.set(`${zone.id} ${name}`, records as ZoneRecord[]);
  }
}

const A = { type: "A", proxied: true } as const;

suite("names that the edge answers for", () => {
  test("are those with a proxied record, in the zone with the most labels", async () => {
    const world = new World();
    const outer = world.zone("example.com");
    const inner = world.zone("sub.example.com");
    world.put(outer, "www.example.com", A);
    world.put(outer, "www.sub.example.com", A);
    world.put(inner, "api.sub.example.com", A);
    world.names.load([outer, inner]);
    assert.equal((await world.names.find("www.example.com"))?.proxied.length, 1);
    assert.equal((await world.names.find("www.sub.example.com"))?.proxied.length, 0);
    const found = await world.names.find("api.sub.example.com");
    assert.deepEqual([found?.zone.name, found?.proxied.length], ["sub.example.com", 1]);
    assert.equal(await world.names.find("example.org"), null);
    assert.equal(await world.names.find("com"), null);
  });

  test("lie under a wildcard unless they, or a name between, have records of their own", async () => {
    const world = new World();
    const zone = world.zone("example.com");
    world.put(zone, "*.example.com", A);
    world.put(zone, "mail.example.com", { type: "A", proxied: false });
    world.put(zone, "deep.example.com", { type: "TXT", proxied: false });
    world.names.load([zone]);
    const counts = async (name: string) => (await world.names.find(name))?.proxied.length;
    assert.equal(await counts("any.example.com"), 1);
    assert.equal(await counts("a.b.c.example.com"), 1);
    assert.equal(await counts("mail.example.com"), 0, "a DNS-only name");
    assert.equal(await counts("x.deep.example.com"), 0, "the closest encloser has no wildcard");
    assert.equal(await counts("example.com"), 0, "a wildcard does not cover its own apex");
  });

  test("count only what can lead to an origin, and nothing while the zone is paused", async () => {
    const world = new World();
    const zone = world.zone("example.com");
    world.put(zone, "www.example.com", { type: "TXT", proxied: true }, A, { ...A, type: "CNAME" });
    world.names.load([zone]);
    assert.equal((await world.names.find("www.example.com"))?.proxied.length, 2);
    world.names.changed(world.zone("example.com", { paused: true }), new Map());
    assert.equal((await world.names.find("www.example.com"))?.proxied.length, 0);
  });

  test("are read once, and again after a change", async () => {
    const world = new World();
    const zone = world.zone("example.com");
    world.put(zone, "www.example.com", A);
    world.names.load([zone]);
    await world.names.find("www.example.com");
    assert.ok(!(world.names.find("www.example.com") instanceof Promise), "from memory");
    assert.deepEqual(world.reads, ["www.example.com"]);
    world.put(zone, "www.example.com");
    world.names.changed(world.zone("example.com"), new Map());
    assert.equal((await world.names.find("www.example.com"))?.proxied.length, 0);
  });

  test("that are read while the zone changes are not kept", async () => {
    const world = new World();
    const zone = world.zone("example.com");
    world.put(zone, "www.example.com", A);
    world.names.load([zone]);
    const gate = Promise.withResolvers<void>();
    world.pause = gate.promise;
    const early = world.names.find("www.example.com");
    world.names.changed(world.zone("example.com"), new Map());
    gate.resolve();
    await early;
    assert.ok(world.names.find("www.example.com") instanceof Promise);
  });

  test("go with their zone, but not with an older namesake", async () => {
    const world = new World();
    const old = world.zone("example.com", { id: "old" });
    world.names.load([old]);
    const renewed = world.zone("example.com", { id: "new" });
    world.put(renewed, "www.example.com", A);
    world.names.changed(renewed, new Map());
    world.names.removed(old);
    assert.equal((await world.names.find("www.example.com"))?.proxied.length, 1);
    world.names.removed(renewed);
    assert.equal(await world.names.find("www.example.com"), null);
  });

  test("that strangers invent do not fill the memory", async () => {
    const world = new World();
    const zone = world.zone("example.com");
    world.names.load([zone]);
    for (let i = 0; i < 20_001; i++) await world.names.find(`n${i}.example.com`);
    assert.ok(!(world.names.find("n20000.example.com") instanceof Promise));
    assert.ok(world.names.find("n0.example.com") instanceof Promise, "forgotten");
  });
});
