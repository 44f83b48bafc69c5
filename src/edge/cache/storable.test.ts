import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseCacheControl } from "./cache-control.ts";
import { NOW } from "./origin.contract.ts";
import { headFor } from "./stored.ts";

interface Case {
  readonly status?: number;
  readonly asked?: string;
  readonly request?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

function headOf({ status = 200, asked = "", request = {}, headers }: Case) {
  const response = { status, headers: Object.entries(headers).flat() };
  const exchange = { requestedAt: NOW, receivedAt: NOW };
  const directives = parseCacheControl(asked);
  return headFor("z https://example.com/", { headers: request }, directives, response, exchange, 0);
}

const control = (value: string) => ({ "Cache-Control": value });
const auth = { authorization: "Bearer x" };
const changed = new Date(NOW - 1e7).toUTCString();

suite("a response is kept", () => {
  const cases: [why: string, one: Case][] = [
    ["9111 §3: with max-age", { headers: control("max-age=60") }],
    ["9111 §3: with s-maxage", { headers: control("s-maxage=60") }],
    ["9111 §3: with Expires", { headers: { Expires: new Date(NOW + 1000).toUTCString() } }],
    [
      "9111 §3: by default, with a guess at its lifetime",
      { headers: { "Last-Modified": changed } },
    ],
    ["9110 §15.1: a 404 by default", { status: 404, headers: { "Last-Modified": changed } }],
    ["9111 §3: any status that says for how long", { status: 302, headers: control("max-age=9") }],
    ["9111 §3: an error that says for how long", { status: 503, headers: control("max-age=9") }],
    [
      "9111 §3.5: with credentials, public",
      { request: auth, headers: control("public, max-age=9") },
    ],
    ["9111 §3.5: with credentials, s-maxage", { request: auth, headers: control("s-maxage=9") }],
    [
      "9111 §3.5: with credentials, must-revalidate",
      { request: auth, headers: control("max-age=9, must-revalidate") },
    ],
    [
      "9111 §5.2.2.3: must-understand undoes no-store for what is known",
      { headers: control("must-understand, no-store, max-age=9") },
    ],
    [
      "5861 §3: for its time as a stale one",
      { headers: control("max-age=0, stale-while-revalidate=9") },
    ],
    [
      "9111 §5.2.2.7: without its private fields",
      { headers: { ...control('private="set-cookie", max-age=9'), "Set-Cookie": "a=b" } },
    ],
  ];
  for (const [why, one] of cases) test(why, () => assert.notEqual(headOf(one), null));
});

suite("a response is not kept", () => {
  const cases: [why: string, one: Case][] = [
    ["9111 §5.2.2.5: no-store", { headers: control("no-store, max-age=60") }],
    [
      "9111 §5.2.1.5: no-store of the request",
      { asked: "no-store", headers: control("max-age=60") },
    ],
    ["9111 §5.2.2.7: private", { headers: control("private, max-age=60") }],
    [
      "9111 §5.2.2.4: no-cache, which would be fetched each time",
      { headers: control("no-cache, max-age=60") },
    ],
    ["9111 §3.5: with credentials", { request: auth, headers: control("max-age=60") }],
    ["9111 §4.1: Vary is *", { headers: { ...control("max-age=60"), Vary: "Accept, *" } }],
    [
      "9111 §7.3: with a cookie",
      { headers: { ...control("public, max-age=60"), "Set-Cookie": "a=b" } },
    ],
    ["9111 §3: a part", { status: 206, headers: control("max-age=60") }],
    ["9111 §3: an answer to a condition", { status: 304, headers: control("max-age=60") }],
    ["9111 §3: nothing final", { status: 103, headers: control("max-age=60") }],
    ["9110 §15: no status", { status: 600, headers: control("max-age=60") }],
    [
      "9111 §5.2.2.3: must-understand of what is not known",
      { status: 299, headers: control("must-understand, max-age=60") },
    ],
    ["9111 §4.2.2: nothing to guess by", { headers: {} }],
    [
      "9111 §4.2.2: a status that is not guessed for",
      { status: 302, headers: { "Last-Modified": changed } },
    ],
    ["stale at once", { headers: control("max-age=0") }],
    ["stale on arrival by Expires", { headers: { Expires: "0" } }],
  ];
  for (const [why, one] of cases) test(why, () => assert.equal(headOf(one), null));
});

test("fields that must not be kept are not, and others keep their spelling and order (9111 §3.1)", () => {
  const headers = {
    "X-One": "1",
    "Set-Cookie": "a=b",
    Age: "7",
    "CF-Cache-Status": "HIT",
    "Cache-Control": 'no-cache="Set-Cookie, X-Secret", max-age=60',
    "x-secret": "s",
    ETag: '"1"',
  };
  // Without a date it gets that of its arrival (9110 §6.6.1).
  const date = ["Date", new Date(NOW).toUTCString()];
  const kept = ["X-One", "1", "Cache-Control", headers["Cache-Control"], "ETag", '"1"', ...date];
  assert.deepEqual(headOf({ headers })?.headers, kept);
});
