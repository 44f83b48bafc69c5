import assert from "node:assert/strict";
import { test } from "node:test";
import dnsPacket from "dns-packet";
import type { RecordRow } from "#zones";
import { msOf } from "../../test/support/patience.ts";
import { serveZones, zoneNamed } from "../../test/support/served-zones.ts";

const NAMES = 200_000;

async function* manyRows(): AsyncGenerator<RecordRow[]> {
  for (let from = 0; from < NAMES; from += 1_000) {
    yield Array.from({ length: 1_000 }, (_, i) => {
      const name = `n${String(from + i).padStart(6, "0")}.large.test`;
      return [1, name, "A", "192.0.2.1", null, 300, 0, null] as const;
    });
  }
}

test("a change of one record in a large zone costs what the change costs", async () => {
  const served = serveZones({});
  const { publisher } = served;
  const zone = zoneNamed("large.test", 1);
  assert.equal(await publisher.load([zone], manyRows()), NAMES);
  const addressOf = (name: string) => {
    const query = dnsPacket.encode({ type: "query", questions: [{ name, type: "A" }] });
    const { answers } = dnsPacket.decode(Buffer.from(served.ask(query) as Uint8Array));
    return (answers?.[0] as { data?: string } | undefined)?.data;
  };
  assert.equal(addressOf("n123456.large.test"), "192.0.2.1");

  const record = {
    type: "A",
    content: "192.0.2.2",
    priority: null,
    ttl: 1,
    proxied: false,
    extra: null,
  };
  const change = (serial: number, name: string) =>
    publisher.changed({ ...zone, serial }, new Map([[name, [record as never]]]));
  change(2, "n123456.large.test");
  const before = publisher.memory.used;
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    const name = `n${String(i * 1_999).padStart(6, "0")}.large.test`;
    times.push(await msOf(() => change(3 + i, name)));
  }
  assert.equal(addressOf("n123456.large.test"), "192.0.2.2");
  assert.equal(addressOf("n001999.large.test"), "192.0.2.2");
  assert.equal(addressOf("n002000.large.test"), "192.0.2.1");
  // A hundred changes wrote their own names, some pages and the directory; nothing of the other 199,900.
  assert.ok(publisher.memory.used - before < 1024 ** 2, `${publisher.memory.used - before} octets`);
  const median = times.toSorted((a, b) => a - b)[50]!; // Some wait for a busy machine.
  assert.ok(median < 20, `a change took ${median} ms`);
});

test("a zone that is removed gives its memory back to those that come after it", async () => {
  const { publisher } = serveZones({});
  const used: number[] = [];
  for (let round = 0; round < 4; round++) {
    const zone = zoneNamed("large.test", 1);
    await publisher.load([{ ...zone, id: `zone-${round}` }], manyRows());
    used.push(publisher.memory.used);
    publisher.removed({ ...zone, id: `zone-${round}` });
    // It is given back in pieces; each publication takes in what no reader sees any more.
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    publisher.changed(zoneNamed("other.test", 2), new Map());
  }
  assert.ok(used[3]! < used[0]! * 1.1, `${used.join(", ")} octets`);
});
