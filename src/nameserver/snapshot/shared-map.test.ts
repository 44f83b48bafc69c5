import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SharedMemory } from "./memory.ts";
import { writeEntry } from "./name-block.ts";
import { SnapshotReader } from "./reader.ts";
import { type MapKey, SharedMap } from "./shared-map.ts";

/** Entries whose key is a number; the hash is whatever the test wants. */
function keyed(memory: SharedMemory, hashOf: (n: number) => number) {
  const octets = (n: number) => Uint8Array.of(n >> 16, n >> 8, n);
  const numberOf = (entry: number) => {
    const bytes = memory.bytes[entry >>> 26]!;
    const at = (entry & 0x3ff_ffff) + 12;
    return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  };
  return {
    octets,
    key: (n: number): MapKey => ({ hash: hashOf(n), is: (entry) => numberOf(entry) === n }),
    entry: (n: number) =>
      writeEntry(memory, { flags: 0, own: 0, key: octets(n), body: 0, sets: null }),
  };
}

const change = fc.record({ put: fc.boolean(), key: fc.integer({ min: 0, max: 400 }) });

for (const [name, hashOf] of [
  ["spread hashes", (n: number) => Math.imul(n, 0x9e37_79b1)],
  ["hashes that all collide", () => 7],
  ["hashes that agree in their low bits", (n: number) => n << 22],
] as const) {
  test(`a map holds just what was put and not removed: ${name}`, () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 600 }), (changes) => {
        const memory = new SharedMemory(1);
        const { key, entry } = keyed(memory, hashOf);
        const map = new SharedMap(memory, 0);
        const model = new Map<number, number>();
        for (const [i, { put, key: n }] of changes.entries()) {
          if (put) {
            const made = entry(n);
            assert.equal(map.put(key(n), made), model.get(n) ?? 0);
            model.set(n, made);
          } else {
            assert.equal(map.remove(key(n)), model.get(n) ?? 0);
            model.delete(n);
          }
          if (i % 7 === 0) map.finish(); // From here on its blocks are copied, not changed.
        }
        for (let n = 0; n <= 400; n++) assert.equal(map.get(key(n)), model.get(n) ?? 0);
      }),
      { numRuns: 30 },
    );
  });
}

test("a reader keeps the version that it began with, however much is written meanwhile", () => {
  const memory = new SharedMemory(1);
  const { key, entry, octets } = keyed(memory, (n) => Math.imul(n, 0x9e37_79b1));
  const map = new SharedMap(memory, 0);
  const publish = () => {
    const root = memory.allocate(3);
    memory.set(root, 1, map.finish());
    memory.set(root, 2, 0);
    memory.publish(root);
  };
  const reader = new SnapshotReader(memory.connect());
  const has = (n: number) =>
    reader.find(reader.zones, Math.imul(n, 0x9e37_79b1), octets(n), 0, 3) !== 0;
  for (let n = 0; n < 1000; n++) map.put(key(n), entry(n));
  publish();
  reader.begin();
  for (let round = 0; round < 20; round++) {
    for (let n = 0; n < 1000; n++) {
      const gone = round % 2 === 0 ? map.remove(key(n)) : map.put(key(n + 5000), entry(n + 5000));
      if (gone !== 0) memory.retire(gone);
    }
    publish();
    for (let n = 0; n < 1000; n++) assert.ok(has(n), `round ${round}: ${n} is gone`);
    assert.ok(!has(5000));
  }
  reader.end();
  reader.begin();
  assert.ok(!has(1));
  assert.ok(has(5001));
  reader.end();
});

test("memory that nobody reads any more is used again", () => {
  const memory = new SharedMemory(1);
  const { key, entry } = keyed(memory, (n) => Math.imul(n, 0x9e37_79b1));
  const map = new SharedMap(memory, 0);
  for (let n = 0; n < 500; n++) map.put(key(n), entry(n));
  const changeAll = () => {
    for (let n = 0; n < 500; n++) {
      memory.retire(map.put(key(n), entry(n)));
      map.finish();
      memory.publish(8);
    }
  };
  changeAll();
  const used = memory.used;
  for (let round = 0; round < 50; round++) changeAll();
  assert.equal(memory.used, used);
});

test("a reader that never ends holds memory back, and its disconnection frees it", () => {
  const memory = new SharedMemory(1);
  const handle = memory.connect();
  const reader = new SnapshotReader(handle);
  reader.begin();
  const churn = () => {
    for (let i = 0; i < 1000; i++) {
      memory.retire(memory.allocate(10));
      memory.publish(8);
    }
  };
  churn();
  const held = memory.used;
  churn();
  assert.ok(memory.used > held);
  memory.disconnect(handle.slot);
  churn();
  const used = memory.used;
  churn();
  assert.equal(memory.used, used);
});
