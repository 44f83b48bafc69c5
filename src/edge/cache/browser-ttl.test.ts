import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { forBrowsers } from "./browser-ttl.ts";
import { fieldOf } from "./headers.ts";
import type { CacheStatus } from "./messages.ts";

const DATE = ["Date", "Sun, 15 Nov 2026 10:00:00 GMT"];
const anHourOn = ["Expires", "Sun, 15 Nov 2026 11:00:00 GMT"];

function shown(
  headers: readonly string[],
  seconds: number,
  { status = 200, cacheStatus = "HIT" }: { status?: number; cacheStatus?: CacheStatus } = {},
) {
  const answer = { status, headers: [...DATE, ...headers], body: null, cacheStatus };
  const { headers: out } = forBrowsers(answer, seconds);
  return [fieldOf(out, "cache-control"), fieldOf(out, "expires")];
}

const control = (value: string) => ["Cache-Control", value];

suite("what browsers are told", () => {
  const cases: [name: string, headers: readonly string[], expected: string | null][] = [
    ["a shorter time is made longer", control("public, max-age=60"), "public, max-age=600"],
    ["a longer one stays", control("max-age=6000, public"), "max-age=6000, public"],
    ["none is given where none was", control("s-maxage=60"), "s-maxage=60, max-age=600"],
    ["a date before it is replaced", ["Expires", DATE[1]!], "max-age=600"],
    ["a date behind it stays", anHourOn, null],
    ["max-age counts before a date", [...control("max-age=1"), ...anHourOn], "max-age=600"],
    ["quotes stay", control('x="a, \\"b", max-age=1'), 'x="a, \\"b", max-age=600'],
    ["what may not be kept is left alone", control("no-store"), "no-store"],
    ["so is what must be asked for", control('no-cache="x", max-age=1'), 'no-cache="x", max-age=1'],
    ["and what is for one client", control("private, max-age=1"), "private, max-age=1"],
    ["and cookies", [...control("max-age=1"), "Set-Cookie", "a=b"], "max-age=1"],
  ];
  for (const [name, headers, expected] of cases) {
    test(name, () => {
      const [value, expires] = shown(headers, 600);
      assert.equal(value, expected);
      assert.equal(expires !== null, headers.includes("Expires") && expected === null);
    });
  }

  test("is the origin's word where the zone has none, and of errors and what is not kept", () => {
    const headers = control("max-age=1");
    assert.deepEqual(shown(headers, 0), ["max-age=1", null]);
    assert.deepEqual(shown(headers, 600, { status: 404 }), ["max-age=1", null]);
    assert.deepEqual(shown(headers, 600, { cacheStatus: "BYPASS" }), ["max-age=1", null]);
    assert.deepEqual(shown(headers, 600, { cacheStatus: "DYNAMIC" }), ["max-age=1", null]);
  });
});
