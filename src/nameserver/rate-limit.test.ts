import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ABOUT, LIMIT, RateLimit, rateLimitTable } from "./rate-limit.ts";

const START = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

function setUp({
  answers = 10,
  others = 5,
  exempt = [] as string[],
  table = rateLimitTable(),
} = {}) {
  const limit = new RateLimit({ answers, others, exempt, table });
  limit.begin(START);
  return limit;
}

const ipv4 = (...octets: number[]) => Uint8Array.of(...octets);
const CLIENT = ipv4(192, 0, 2, 1);

/** How many of so many pass, and how many slip. */
function ask(
  limit: RateLimit,
  count: number,
  { about, subject }: { about?: number; subject?: number } = {},
) {
  const seen = Array.from({ length: count }, () =>
    limit.check(CLIENT, 4, about ?? ABOUT.answer, subject ?? 1),
  );
  return [LIMIT.pass, LIMIT.slip].map((fate) => seen.filter((one) => one === fate).length);
}

suite("a limit", () => {
  test("lets a second's worth through at once, and of the rest every second one slip", () => {
    assert.deepEqual(ask(setUp(), 30), [10, 10]);
    assert.deepEqual(ask(setUp(), 30, { about: ABOUT.denial }), [5, 12]);
    assert.deepEqual(ask(setUp(), 30, { about: ABOUT.error, subject: 0 }), [5, 12]);
  });

  test("of 0 is none", () => {
    assert.deepEqual(ask(setUp({ answers: 0 }), 1_000), [1_000, 0]);
    assert.deepEqual(ask(setUp({ others: 0 }), 1_000, { about: ABOUT.denial }), [1_000, 0]);
  });

  test("lets the rate through, however long it goes on", () => {
    const limit = setUp();
    let passed = 0;
    for (let ms = 0; ms < 60_000; ms += 100) {
      limit.begin(START + ms);
      passed += ask(limit, 1)[0]!;
    }
    assert.equal(passed, 600);
  });

  test("goes on while an attack does, and for 15 s after it at most", () => {
    const limit = setUp();
    for (let second = 0; second < 100; second++) {
      limit.begin(START + second * 1_000);
      const [passed] = ask(limit, 100);
      assert.equal(passed, second === 0 ? 10 : 0);
    }
    limit.begin(START + 99_000 + 14_000);
    assert.deepEqual(ask(limit, 1)[0], 0);
    limit.begin(START + 99_000 + 15_200);
    assert.deepEqual(ask(limit, 1)[0], 1);
  });

  test("forgets what is long past, whatever part of its round the clock is in", () => {
    for (const days of [1, 20, 26, 40, 49, 60, 400]) {
      const limit = setUp();
      ask(limit, 100);
      limit.begin(START + days * DAY_MS);
      assert.deepEqual(ask(limit, 11), [10, 0], `after ${days} days`);
    }
  });

  test("may be so high that what is overdrawn would not fit its place", () => {
    const limit = setUp({ answers: 1_000_000 });
    assert.deepEqual(ask(limit, 3_500_000), [1_000_000, 1_250_000]);
  });

  test("takes no notice of a thread whose time is a moment behind", () => {
    const table = rateLimitTable();
    const [ahead, behind] = [setUp({ table }), setUp({ table })];
    ahead.begin(START + 50);
    assert.deepEqual(ask(ahead, 10), [10, 0]);
    assert.deepEqual(ask(behind, 10), [0, 5]);
    assert.deepEqual(ask(ahead, 10), [0, 5]);
  });
});

test("a network is a /24 or a /56", () => {
  const limit = setUp({ answers: 1 });
  const check = (address: Uint8Array) => limit.check(address, address.length, ABOUT.answer, 1);
  const ipv6 = (...octets: number[]) => Uint8Array.from({ length: 16 }, (_, i) => octets[i] ?? 0);
  assert.equal(check(ipv4(192, 0, 2, 1)), LIMIT.pass);
  assert.notEqual(check(ipv4(192, 0, 2, 255)), LIMIT.pass);
  assert.equal(check(ipv4(192, 0, 3, 1)), LIMIT.pass);
  assert.equal(check(ipv6(0x20, 1, 0xd, 0xb8, 0, 0, 1, 2)), LIMIT.pass);
  assert.notEqual(check(ipv6(0x20, 1, 0xd, 0xb8, 0, 0, 1, 3)), LIMIT.pass);
  assert.equal(check(ipv6(0x20, 1, 0xd, 0xb8, 0, 0, 2, 2)), LIMIT.pass);
});

test("exempt are those in the ranges, and no others", () => {
  const limit = setUp({ exempt: ["192.0.2.128/25", "203.0.113.7", "2001:db8::/33", "::1"] });
  const isExempt = (address: Uint8Array) => limit.isExempt(address, address.length);
  assert.ok(isExempt(ipv4(192, 0, 2, 128)) && isExempt(ipv4(192, 0, 2, 255)));
  assert.ok(!isExempt(ipv4(192, 0, 2, 127)));
  assert.ok(isExempt(ipv4(203, 0, 113, 7)) && !isExempt(ipv4(203, 0, 113, 6)));
  const ipv6 = (...octets: number[]) => Uint8Array.from({ length: 16 }, (_, i) => octets[i] ?? 0);
  assert.ok(isExempt(ipv6(0x20, 1, 0xd, 0xb8, 0x7f)) && !isExempt(ipv6(0x20, 1, 0xd, 0xb8, 0x80)));
  const loopback = ipv6();
  assert.ok(!isExempt(loopback));
  loopback[15] = 1;
  assert.ok(isExempt(loopback));
});
