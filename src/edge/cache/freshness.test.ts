import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { parseCacheControl } from "./cache-control.ts";
import {
  ageSeconds,
  directivesOf,
  type Freshness,
  freshnessOf,
  judge,
  mayServeOnError,
} from "./freshness.ts";
import { NOW } from "./origin.contract.ts";

const at = (seconds: number) => new Date(NOW + seconds * 1000).toUTCString();

function freshness(
  headers: Readonly<Record<string, string>>,
  { status = 200, delay = 0 } = {},
): Freshness {
  const raw = Object.entries({ Date: at(0), ...headers }).flat();
  const exchange = { requestedAt: NOW - delay * 1000, receivedAt: NOW };
  return freshnessOf(status, raw, directivesOf(raw), exchange);
}

suite("the lifetime of a response", () => {
  const cases: [section: string, headers: Record<string, string>, seconds: number][] = [
    ["9111 §4.2.1: s-maxage before max-age", { "Cache-Control": "max-age=5, s-maxage=9" }, 9],
    ["9111 §4.2.1: max-age before Expires", { "Cache-Control": "max-age=5", Expires: at(99) }, 5],
    ["9111 §4.2.1: Expires less Date", { Expires: at(60), Date: at(-10) }, 70],
    ["9111 §4.2.1: the shorter of two", { "Cache-Control": "max-age=9, max-age=3" }, 3],
    [
      "9111 §4.2.1: no whole number is stale",
      { "Cache-Control": "max-age=1.5", Expires: at(9) },
      0,
    ],
    ["9111 §5.2: names in any case", { "Cache-Control": "MAX-AGE=5" }, 5],
    ["9111 §5.2: quoted as well", { "Cache-Control": 'max-age="5"' }, 5],
    [
      "9111 §5.2.3: what is unknown says nothing",
      { "Cache-Control": 'x="max-age=9", max-age=5' },
      5,
    ],
    [
      "9111 §1.2.2: more than can be counted",
      { "Cache-Control": `max-age=${"9".repeat(30)}` },
      2 ** 31,
    ],
    ["9111 §5.3: no date is the past", { Expires: "0" }, 0],
    ["9111 §5.3: past is past", { Expires: at(-60) }, 0],
    ["9111 §5.3: two dates are none", { Expires: `${at(60)}, ${at(90)}` }, 0],
    ["9111 §4.2.2: a tenth of its rest", { "Last-Modified": at(-1000) }, 100],
    ["9111 §4.2.2: a day at most", { "Last-Modified": at(-1e8) }, 86_400],
    ["9111 §4.2.2: a change to come", { "Last-Modified": at(1000) }, 0],
    ["9111 §4.2.2: nothing to go by", {}, 0],
    [
      "9213 §2.2: for this cache alone",
      { "CDN-Cache-Control": "max-age=9", "Cache-Control": "no-store" },
      9,
    ],
    [
      "9213 §2.2: an empty one does not count",
      { "CDN-Cache-Control": "", "Cache-Control": "max-age=4" },
      4,
    ],
  ];
  for (const [section, headers, seconds] of cases) {
    test(section, () => assert.equal(freshness(headers).lifetimeMs, seconds * 1000));
  }

  test("9110 §15.1: is guessed for the statuses that allow it", () => {
    const headers = { "Last-Modified": at(-1000) };
    assert.equal(freshness(headers, { status: 404 }).lifetimeMs, 100_000);
    assert.equal(freshness(headers, { status: 302 }).lifetimeMs, 0);
    const told = { ...headers, "Cache-Control": "public" };
    assert.equal(freshness(told, { status: 302 }).lifetimeMs, 100_000);
  });
});

suite("the age of a response (RFC 9111 §4.2.3)", () => {
  const age = (headers: Record<string, string>, delay = 0) =>
    ageSeconds(freshness(headers, { delay }), NOW);
  const cases: [name: string, age: number, expected: number][] = [
    ["none", age({}), 0],
    ["its date", age({ Date: at(-30) }), 30],
    ["a date ahead of our clock", age({ Date: at(30) }), 0],
    ["no date at all", age({ Date: "yesterday" }), 0],
    ["what caches before us say", age({ Age: "50" }), 50],
    ["the larger of both", age({ Age: "50", Date: at(-70) }), 70],
    ["with the time that the answer took", age({ Age: "50" }, 3), 53],
    ["the first of several", age({ Age: "50, 9" }), 50],
    ["no number", age({ Age: "x" }), 0],
  ];
  for (const [name, got, expected] of cases) test(name, () => assert.equal(got, expected));
});

suite("what may be done with a stored response", () => {
  const plain = "max-age=60";
  const cases: [section: string, stored: string, asked: string, age: number, verdict: string][] = [
    ["9111 §4.2", plain, "", 59, "fresh"],
    ["9111 §4.2", plain, "", 60, "validate"],
    ["9111 §5.2.1.1", plain, "max-age=30", 30, "fresh"],
    ["9111 §5.2.1.1", plain, "max-age=30", 31, "validate"],
    ["9111 §5.2.1.1", plain, "max-age=0", 0, "fresh"],
    ["9111 §5.2.1.2", plain, "max-stale", 1e6, "stale"],
    ["9111 §5.2.1.2", plain, "max-stale=10", 70, "stale"],
    ["9111 §5.2.1.2", plain, "max-stale=10", 71, "validate"],
    ["9111 §5.2.1.2", plain, "max-stale, max-age=30", 70, "validate"],
    ["9111 §5.2.1.3", plain, "min-fresh=10", 50, "fresh"],
    ["9111 §5.2.1.3", plain, "min-fresh=10", 51, "validate"],
    ["9111 §5.2.1.4", plain, "no-cache", 0, "validate"],
    ["9111 §5.2.2.2", "max-age=60, must-revalidate", "max-stale", 61, "validate"],
    ["9111 §5.2.2.8", "max-age=60, proxy-revalidate", "max-stale", 61, "validate"],
    ["9111 §5.2.2.10", "s-maxage=60", "max-stale", 61, "validate"],
    ["8246 §2", "max-age=60, immutable", "max-age=0", 30, "fresh"],
    ["8246 §2", "max-age=60, immutable", "max-age=0", 61, "validate"],
    ["5861 §3", "max-age=60, stale-while-revalidate=30", "", 89, "updating"],
    ["5861 §3", "max-age=60, stale-while-revalidate=30", "", 90, "validate"],
    ["5861 §3", "s-maxage=60, stale-while-revalidate=30", "", 70, "updating"],
    ["5861 §3", "max-age=60, must-revalidate, stale-while-revalidate=30", "", 70, "validate"],
  ];
  for (const [section, stored, asked, age, verdict] of cases) {
    test(`${section}: "${stored}" asked with "${asked}" at ${age} s: ${verdict}`, () => {
      const told = freshness({ "Cache-Control": stored });
      const directives = parseCacheControl(asked);
      assert.equal(judge(told, directives, NOW + age * 1000), verdict);
    });
  }

  test("5861 §4: an error may be covered for the time that either side says", () => {
    const may = (stored: string, asked: string, age: number) =>
      mayServeOnError(
        freshness({ "Cache-Control": stored }),
        parseCacheControl(asked),
        NOW + age * 1000,
      );
    assert.ok(may("max-age=60, stale-if-error=10", "", 69));
    assert.ok(!may("max-age=60, stale-if-error=10", "", 70));
    assert.ok(may("max-age=60", "stale-if-error=10", 69));
    assert.ok(!may("max-age=60", "", 61));
    assert.ok(!may("max-age=60, must-revalidate", "stale-if-error=10", 61));
    assert.ok(may("s-maxage=60, stale-if-error=10", "", 69));
  });
});

suite("for any response", () => {
  const header = fc.record(
    {
      Date: fc.integer({ min: -1e6, max: 1e6 }).map(at),
      Age: fc.oneof(fc.nat().map(String), fc.string()),
      Expires: fc.oneof(fc.integer({ min: -1e6, max: 1e6 }).map(at), fc.string()),
      "Last-Modified": fc.integer({ min: -1e8, max: 1e6 }).map(at),
      "Cache-Control": fc.oneof(
        fc.nat().map((seconds) => `max-age=${seconds}`),
        fc.constantFrom("must-revalidate", "immutable", "s-maxage=7, stale-while-revalidate=9"),
        fc.string(),
      ),
    },
    { requiredKeys: [] },
  );

  test("times are numbers of at least nought, and age grows with the clock", () => {
    fc.assert(
      fc.property(header, fc.nat(1e6), fc.nat(1e6), (headers, delay, later) => {
        const told = freshness(headers, { delay });
        const { lifetimeMs, whileRevalidateMs, ifErrorMs } = told;
        for (const time of [lifetimeMs, whileRevalidateMs, ifErrorMs]) assert.ok(time >= 0);
        assert.ok(told.bornAt <= NOW, "it cannot be younger than its arrival");
        const before = ageSeconds(told, NOW);
        assert.equal(ageSeconds(told, NOW + later * 1000), before + later);
      }),
    );
  });

  test("once stale it never is fresh again, and a stricter client gets no more", () => {
    const order = ["fresh", "updating", "stale", "validate"];
    fc.assert(
      fc.property(header, fc.nat(1e6), fc.nat(1e6), fc.nat(1e5), (headers, one, other, limit) => {
        const told = freshness(headers);
        const none = parseCacheControl("");
        const rank = (seconds: number, asked = none) =>
          order.indexOf(judge(told, asked, NOW + seconds * 1000));
        assert.ok(rank(Math.min(one, other)) <= rank(Math.max(one, other)));
        if (!told.immutable) {
          assert.ok(rank(one, parseCacheControl(`max-age=${limit}`)) >= rank(one));
        }
        assert.ok(rank(one, parseCacheControl(`min-fresh=${limit}`)) >= rank(one));
      }),
    );
  });
});
