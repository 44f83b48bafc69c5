import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { OutsideNames, type OutsideNamesOptions } from "./outside-names.ts";
import type { Resolution } from "./resolver.ts";
import type { TargetEntry, TargetStore, TargetType } from "./target-store.ts";

const NAME = "www.example.";
const UNREACHABLE: Resolution = { kind: "failure", ede: 22 };
const SILENT: Resolution = { kind: "failure", ede: 23 };
const DAY_SECONDS = 86_400;

suite("what a resolver tells", () => {
  test("stands in the store for its TTL, when those who want it are let go", async () => {
    const { names, store, resolver } = setUp({ answer: () => addresses(60) });
    await Promise.all([names.want(NAME, 1), names.want(NAME, 1)]);
    assert.deepEqual(resolver.asked, [`${NAME} 1`], "asked once");
    assert.deepEqual(store.entry(NAME), {
      kind: "addresses",
      addresses: Uint8Array.of(192, 0, 2, 1),
      ttlSeconds: 60,
      expiresAt: 60_000,
      stale: false,
      ede: null,
    });
    await names.want(NAME, 28);
    assert.deepEqual(resolver.asked, [`${NAME} 1`, `${NAME} 28`], "each type by itself");
  });

  test("is kept at least 5 s, and at most an hour or, when there is no address, 5 minutes", async () => {
    const cases: [resolution: Resolution, ttlSeconds: number][] = [
      [addresses(0), 5],
      [addresses(4000), 3600],
      [{ kind: "nodata", ttlSeconds: 0 }, 5],
      [{ kind: "nodata", ttlSeconds: 120 }, 120],
      [{ kind: "nodata", ttlSeconds: 4000 }, 300],
    ];
    for (const [resolution, ttlSeconds] of cases) {
      const { names, store } = setUp({ answer: () => resolution });
      await names.want(NAME, 1);
      const entry = store.entry(NAME);
      assert.deepEqual(
        [entry?.kind, entry?.ttlSeconds, entry?.expiresAt],
        [resolution.kind, ttlSeconds, ttlSeconds * 1000],
      );
    }
  });

  test("is learnt anew when a tenth of its time is left, if it is in use", async () => {
    const { names, store, resolver, clock } = setUp({ answer: () => addresses(100) });
    await names.want(NAME, 1);
    await clock.advance(89);
    store.ask(NAME);
    assert.equal(resolver.asked.length, 1);
    await clock.advance(1);
    assert.equal(resolver.asked.length, 2);
    assert.equal(store.entry(NAME)?.expiresAt, 190_000);
  });

  test("is learnt anew at its end, if it came into use in its last tenth", async () => {
    const { names, store, resolver, clock } = setUp({ answer: () => addresses(100) });
    await names.want(NAME, 1);
    await clock.advance(95);
    assert.equal(resolver.asked.length, 1);
    store.ask(NAME);
    await clock.advance(5);
    assert.equal(resolver.asked.length, 2);
    assert.equal(store.entry(NAME)?.expiresAt, 200_000);
  });

  test("is learnt anew once a store of whole seconds sees its end, and not called stale", async () => {
    for (const ttl of [5, 6, 7, 8, 9, 10, 11]) {
      const { names, store, resolver, clock } = setUp({ answer: () => addresses(ttl) });
      await names.want(NAME, 1);
      await clock.advance(ttl - 1); // It may see it a second early.
      await names.want(NAME, 1);
      assert.deepEqual([resolver.asked.length, store.entry(NAME)?.stale], [2, false], `TTL ${ttl}`);
    }
  });

  test("goes from the store at its end, if nobody uses it", async () => {
    const { names, store, resolver, clock } = setUp({ answer: () => addresses(100) });
    await names.want(NAME, 1);
    await clock.advance(99);
    assert.ok(store.entry(NAME));
    await clock.advance(1);
    assert.equal(store.entry(NAME), undefined);
    assert.equal(resolver.asked.length, 1);
    await names.want(NAME, 1);
    assert.equal(resolver.asked.length, 2);
  });

  test("is forgotten a day after its end", async () => {
    const { names, clock } = setUp({ answer: () => addresses(100) });
    await names.want(NAME, 1);
    await clock.advance(DAY_SECONDS + 99);
    assert.equal(names.counters().entries, 1);
    await clock.advance(1);
    assert.equal(names.counters().entries, 0);
    assert.equal(clock.timers, 0);
  });
});

suite("when nothing can be learnt", () => {
  test("and nothing is known, it is a failure with its reason", async () => {
    for (const [resolution, ede] of [
      [UNREACHABLE, 22],
      [SILENT, 23],
    ] as const) {
      const { names, store } = setUp({ answer: () => resolution });
      await names.want(NAME, 1);
      const { kind, stale, ...entry } = store.entry(NAME)!;
      assert.deepEqual([kind, stale, entry.ede], ["failure", false, ede]);
    }
  });

  test("retries come 5 s later, then after twice the time, in the background", async () => {
    for (const [resolution, waits] of [
      [UNREACHABLE, [5, 10, 20, 40, 80, 160, 300, 300]],
      [SILENT, [5, 10, 20, 30, 30]],
    ] as const) {
      const { names, store, resolver, clock } = setUp({ answer: () => resolution });
      await names.want(NAME, 1);
      let tries = 1;
      for (const seconds of waits) {
        await clock.advance(seconds - 1);
        assert.equal(store.ask(NAME)?.kind, "failure", "no query waits");
        assert.equal(resolver.asked.length, tries);
        await clock.advance(1);
        assert.equal(resolver.asked.length, ++tries, `after ${seconds} s`);
      }
    }
  });

  test("and nobody asks, there are no retries, and it is forgotten in time", async () => {
    const { names, store, resolver, clock } = setUp({ answer: () => UNREACHABLE });
    await names.want(NAME, 1);
    await clock.advance(5);
    assert.equal(store.entry(NAME), undefined);
    await names.want(NAME, 1);
    await clock.advance(9);
    assert.ok(store.entry(NAME), "the second failure counts as such");
    await clock.advance(301);
    assert.deepEqual([resolver.asked.length, names.counters().entries], [2, 0]);
  });

  test("the next success ends the waiting", async () => {
    let answer: Resolution = UNREACHABLE;
    const { names, store, clock } = setUp({ answer: () => answer });
    await names.want(NAME, 1);
    store.ask(NAME);
    await clock.advance(5);
    answer = addresses(20);
    store.ask(NAME);
    await clock.advance(10);
    assert.equal(store.entry(NAME)?.kind, "addresses");
    answer = UNREACHABLE;
    store.ask(NAME);
    await clock.advance(18);
    store.ask(NAME);
    await clock.advance(2);
    answer = addresses(20);
    assert.equal(store.ask(NAME)?.stale, true);
    await clock.advance(3);
    assert.equal(store.entry(NAME)?.expiresAt, 58_000, "the first wait is short again");
  });

  test("what was known is served after its end, for a day, while retries go on", async () => {
    for (const known of [addresses(100), { kind: "nodata", ttlSeconds: 100 } as const]) {
      let answer: Resolution = known;
      const { names, store, resolver, clock } = setUp({ answer: () => answer });
      await names.want(NAME, 1);
      answer = SILENT;
      store.ask(NAME);
      await clock.advance(95);
      assert.equal(store.ask(NAME)?.stale, false, "a failed refresh changes nothing yet");
      for (let second = 96; second < 100 + DAY_SECONDS - 1; second++) {
        await clock.advance(1);
        const entry = store.ask(NAME);
        if (entry?.kind !== known.kind) assert.fail(`${JSON.stringify(entry)} after ${second} s`);
        if (entry.stale !== second >= 100) assert.fail(`stale after ${second} s`);
        if (entry.stale) assert.equal(entry.ttlSeconds, 30);
      }
      const tries = resolver.asked.length;
      assert.ok(tries > 2800 && tries < 2900, `${tries} tries`);
      await clock.advance(30);
      assert.equal(store.entry(NAME)?.kind, "failure");
      answer = known;
      store.ask(NAME);
      await clock.advance(30);
      assert.deepEqual([store.entry(NAME)?.kind, store.entry(NAME)?.stale], [known.kind, false]);
    }
  });

  test("what was known and left the store is served stale to who wants it", async () => {
    let answer: Resolution = addresses(100);
    const { names, store, clock, resolver } = setUp({ answer: () => answer });
    await names.want(NAME, 1);
    await clock.advance(5000);
    assert.equal(store.entry(NAME), undefined);
    answer = UNREACHABLE;
    await names.want(NAME, 1);
    assert.equal(store.entry(NAME)?.stale, true);
    await names.want(NAME, 1);
    assert.equal(resolver.asked.length, 2);
  });

  test("a resolver that rejects is told of, and counts as one that is silent", async () => {
    const { names, store, errors } = setUp({
      answer: () => Promise.reject(new Error("a bug")),
    });
    await names.want(NAME, 1);
    assert.equal(store.entry(NAME)?.ede, 23);
    assert.equal(String(errors[0]), "Error: a bug");
  });
});

suite("a client waits", () => {
  test("a second at most; what comes later is for the next", async () => {
    const late = Promise.withResolvers<Resolution>();
    const { names, store, resolver, clock } = setUp({ answer: () => late.promise });
    const wanted = track(names.want(NAME, 1));
    await clock.advance(0.5);
    const second = track(names.want(NAME, 1));
    await clock.advance(0.499);
    assert.deepEqual([wanted.done, second.done], [false, false]);
    await clock.advance(0.001);
    assert.deepEqual([wanted.done, second.done], [true, true]);
    assert.deepEqual([store.entry(NAME)?.kind, store.entry(NAME)?.ede], ["failure", 23]);
    await names.want(NAME, 1);
    assert.equal(resolver.asked.length, 1);
    late.resolve(addresses(60));
    await clock.advance(0.1);
    assert.equal(store.entry(NAME)?.kind, "addresses");
    assert.equal(names.counters().late, 1);
  });

  test("a second for a refresh that takes too long, and then gets what was known", async () => {
    let answer: Resolution | Promise<Resolution> = addresses(10);
    const { names, store, clock } = setUp({ answer: () => answer });
    await names.want(NAME, 1);
    const late = Promise.withResolvers<Resolution>();
    answer = late.promise;
    store.ask(NAME);
    await clock.advance(10.5);
    assert.equal(store.ask(NAME), undefined);
    const wanted = track(names.want(NAME, 1));
    await clock.advance(0.9);
    assert.equal(wanted.done, false);
    await clock.advance(0.1);
    assert.equal(wanted.done, true);
    assert.deepEqual([store.entry(NAME)?.kind, store.entry(NAME)?.stale], ["addresses", true]);
    late.resolve(addresses(10));
    await clock.advance(0.1);
    assert.equal(store.entry(NAME)?.stale, false);
  });

  test("no time at all when it is known that a retry would come too soon", async () => {
    let answer: Resolution = addresses(100);
    const { names, store, resolver, clock } = setUp({ answer: () => answer });
    await names.want(NAME, 1);
    answer = UNREACHABLE;
    for (const seconds of [90, 5]) {
      store.ask(NAME);
      await clock.advance(seconds);
    }
    await clock.advance(6);
    assert.equal(resolver.asked.length, 3, "the last failed at 95 s");
    assert.equal(store.entry(NAME), undefined, "and nobody asked since");
    await names.want(NAME, 1);
    assert.equal(store.entry(NAME)?.stale, true);
    assert.equal(resolver.asked.length, 3);
  });

  test("no longer when the platform stops, and nothing is published after that", async () => {
    const late = Promise.withResolvers<Resolution>();
    const { names, store, clock } = setUp({ answer: () => late.promise });
    const wanted = names.want(NAME, 1);
    names[Symbol.dispose]();
    await wanted;
    late.resolve(addresses(60));
    await clock.advance(5);
    await names.want("other.example.", 1);
    assert.equal(store.size, 0);
    assert.equal(clock.timers, 0);
  });
});

suite("limits", () => {
  test("above the resolutions that may be under way, a new name fails at once", async () => {
    const late = Promise.withResolvers<Resolution>();
    const { names, store, resolver, clock } = setUp({ answer: () => late.promise, maxFlights: 2 });
    void names.want("a.example.", 1);
    void names.want("b.example.", 1);
    await names.want("c.example.", 1);
    assert.deepEqual(
      [store.entry("c.example.")?.kind, store.entry("c.example.")?.ede],
      ["failure", null],
    );
    assert.deepEqual([resolver.asked.length, names.counters().busy], [2, 1]);
    late.resolve(addresses(60));
    store.ask("c.example.");
    await clock.advance(2);
    assert.equal(store.entry("c.example.")?.kind, "addresses", "tried again soon");
  });

  test("refreshes wait for each other and leave room for names that clients wait for", async () => {
    let answer: Resolution | Promise<Resolution> = addresses(10);
    const { names, store, resolver, clock } = setUp({
      answer: () => answer,
      maxFlights: 4,
      maxRefreshes: 2,
    });
    const five = ["a.", "b.", "c.", "d.", "e."];
    for (const name of five) {
      await names.want(name, 1);
      store.ask(name);
    }
    const late = Promise.withResolvers<Resolution>();
    answer = late.promise;
    await clock.advance(9.5);
    assert.equal(names.counters().flights, 2);
    void names.want("f.", 1);
    void names.want("g.", 1);
    assert.equal(names.counters().flights, 4);
    answer = addresses(10);
    late.resolve(addresses(10));
    await clock.advance(0.1);
    assert.equal(names.counters().flights, 0);
    for (const name of five) {
      assert.equal(resolver.asked.filter((asked) => asked === `${name} 1`).length, 2, name);
    }
  });

  test("of more names than fit, the least recently used go", async () => {
    const { names, store } = setUp({ answer: () => addresses(600), maxEntries: 3 });
    for (const name of ["a.", "b.", "c."]) await names.want(name, 1);
    store.ask("a.");
    await names.want("d.", 1);
    assert.deepEqual(store.names, ["a.", "c.", "d."]);
    await names.want("e.", 1);
    assert.deepEqual(store.names, ["a.", "d.", "e."]);
    for (const name of store.names) store.ask(name);
    await names.want("f.", 1);
    assert.equal(store.size, 3, "all are in use, and one went all the same");
    assert.deepEqual([names.counters().entries, names.counters().evicted], [3, 3]);
  });

  test("however many names are asked for, the memory is that of some", async () => {
    const { names, store, clock } = setUp({
      answer: (name) => (name.length % 2 ? addresses(9) : SILENT),
      maxEntries: 100,
    });
    for (let i = 0; i < 20_000; i++) {
      void names.want(`n${i}.example.`, i % 2 ? 1 : 28);
      if (i % 50 === 0) await clock.advance(0.1);
    }
    await clock.advance(1);
    assert.ok(names.counters().entries <= 100, `${names.counters().entries} entries`);
    assert.ok(store.size <= 100, `${store.size} in the store`);
    await clock.advance(2 * DAY_SECONDS);
    assert.deepEqual([names.counters().entries, store.size, clock.timers], [0, 0, 0]);
  });
});

test("a store that is full is told of, and holds nobody up", async () => {
  const { names, store, resolver, clock, errors } = setUp({ answer: () => addresses(100) });
  await names.want(NAME, 1);
  store.isFull = true;
  store.ask(NAME);
  await clock.advance(90);
  assert.deepEqual([store.size, errors.length], [0, 1]);
  await names.want(NAME, 1);
  assert.deepEqual([resolver.asked.length, errors.length], [2, 2]);
  store.isFull = false;
  await names.want(NAME, 1);
  assert.equal(store.entry(NAME)?.expiresAt, 190_000);
});

test("resolutions are counted by what came of them", async () => {
  const outcomes: Resolution[] = [
    addresses(9),
    { kind: "nodata", ttlSeconds: 9 },
    UNREACHABLE,
    SILENT,
  ];
  const { names } = setUp({ answer: () => outcomes.shift()! });
  for (const name of ["a.", "b.", "c.", "d."]) await names.want(name, 1);
  assert.deepEqual(names.counters(), {
    entries: 4,
    flights: 0,
    addresses: 1,
    nodata: 1,
    unreachable: 1,
    networkError: 1,
    busy: 0,
    late: 0,
    stale: 0,
    evicted: 0,
  });
});

type SetUp = Pick<OutsideNamesOptions, "maxEntries" | "maxFlights" | "maxRefreshes"> & {
  readonly answer: (name: string) => Resolution | Promise<Resolution>;
};

function setUp({ answer, ...limits }: SetUp): {
  names: OutsideNames;
  store: MapStore;
  resolver: { asked: string[] };
  clock: FakeClock;
  errors: unknown[];
} {
  const clock = new FakeClock();
  const store = new MapStore(clock.now);
  const errors: unknown[] = [];
  const asked: string[] = [];
  const resolver = {
    asked,
    resolve: async (name: string, type: TargetType) => {
      asked.push(`${name} ${type}`);
      return answer(name);
    },
  };
  const onError = (error: unknown): void => void errors.push(error);
  const { now, after } = clock;
  const names = new OutsideNames({ store, resolver, now, after, onError, ...limits });
  return { names, store, resolver, clock, errors };
}

function addresses(ttlSeconds: number): Resolution {
  return { kind: "addresses", addresses: Uint8Array.of(192, 0, 2, 1), ttlSeconds };
}

function track(promise: Promise<void>): { done: boolean } {
  const state = { done: false };
  void promise.then(() => (state.done = true));
  return state;
}

/** Time that passes when the test says so. */
class FakeClock {
  #nowMs = 0;
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();

  readonly now = (): number => this.#nowMs;

  readonly after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.#nowMs + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  async advance(seconds: number): Promise<void> {
    const end = this.#nowMs + seconds * 1000;
    await setImmediate();
    for (;;) {
      const [next] = [...this.#timers].toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.at);
      next.call();
      await setImmediate();
    }
    this.#nowMs = end;
  }
}

/** As query threads have it: what has ended is not there. */
class MapStore implements TargetStore {
  readonly #entries = new Map<string, { readonly entry: TargetEntry; isAsked: boolean }>();
  readonly #now: () => number;
  isFull = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  publish(name: string, type: TargetType, entry: TargetEntry): void {
    if (this.isFull) throw new Error("full");
    this.#entries.set(`${name} ${type}`, { entry, isAsked: false });
  }

  drop(name: string, type: TargetType): void {
    assert.ok(this.#entries.delete(`${name} ${type}`), `${name} was not there`);
  }

  wasAsked(name: string, type: TargetType): boolean {
    const kept = this.#entries.get(`${name} ${type}`);
    assert.ok(kept !== undefined, `${name} was not there`);
    const { isAsked } = kept;
    kept.isAsked = false;
    return isAsked;
  }

  /** A query for the A records. */
  ask(name: string): TargetEntry | undefined {
    const kept = this.#entries.get(`${name} 1`);
    if (kept === undefined || kept.entry.expiresAt <= this.#now()) return undefined;
    kept.isAsked = true;
    return kept.entry;
  }

  entry(name: string): TargetEntry | undefined {
    return this.#entries.get(`${name} 1`)?.entry;
  }

  get size(): number {
    return this.#entries.size;
  }

  get names(): string[] {
    return [...this.#entries.keys()].map((key) => key.split(" ")[0]!).toSorted();
  }
}
