import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { ENTRY_OCTETS, MemoryStore } from "./memory-store.ts";

suite("the memory store", () => {
  test("never holds more than it may, and never gives what it was not given last", () => {
    const key = fc.nat(20).map(String);
    const step = fc.oneof(
      fc.record({ do: fc.constant("set" as const), key, octets: fc.nat(3000) }),
      fc.record({ do: fc.constant("get" as const), key }),
      fc.record({ do: fc.constant("delete" as const), key }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const limit = 10_000;
        const store = new MemoryStore<number>(limit);
        const given = new Map<string, number>();
        for (const [i, one] of steps.entries()) {
          if (one.do === "set") {
            store.set(one.key, i, one.octets);
            given.set(one.key, i);
            assert.equal(store.get(one.key), i, "what is new is there");
          } else if (one.do === "delete") {
            store.delete(one.key);
            given.delete(one.key);
          }
          const found = store.get(one.key);
          assert.ok(found === undefined || found === given.get(one.key));
          assert.ok(store.octets <= limit);
          assert.ok(store.size * ENTRY_OCTETS <= store.octets);
        }
      }),
    );
  });

  test("does not keep what is larger than all its room, nor what it replaces", () => {
    const store = new MemoryStore<string>(2000);
    store.set("a", "small", 10);
    store.set("a", "large", 5000);
    assert.deepEqual([store.get("a"), store.octets, store.size], [undefined, 0, 0]);
  });

  test("tells what has made room for others, and nothing else", () => {
    let evicted = 0;
    const store = new MemoryStore<number>(2 * (ENTRY_OCTETS + 1), () => evicted++);
    store.set("a", 1, 0);
    store.set("a", 2, 0);
    store.set("b", 3, 0);
    store.delete("b");
    store.set("b", 4, 0);
    assert.equal(evicted, 0);
    store.set("c", 5, 0);
    assert.deepEqual([evicted, store.size], [1, 2]);
  });

  test("keeps what is in use while a crawler passes through", () => {
    const store = new MemoryStore<number>(100 * (ENTRY_OCTETS + 10));
    for (let i = 0; i < 20; i++) store.set(`used ${i}`, i, 0);
    for (let i = 0; i < 1000; i++) {
      store.set(`once ${i}`, i, 0);
      for (let used = 0; used < 20; used++) store.get(`used ${used}`);
    }
    for (let i = 0; i < 20; i++) assert.equal(store.get(`used ${i}`), i);
  });
});
