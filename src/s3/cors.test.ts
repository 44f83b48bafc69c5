import assert from "node:assert/strict";
import { test } from "node:test";
import { type CorsRule, ObjectFault, type ObjectStore } from "#objects";
import type { S3Code } from "./codes.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { S3Fault } from "./fault.ts";

const rule: CorsRule = { origins: [], methods: ["GET"], headers: [], exposed: [] };

/** A store that has one bucket, `b`. */
const storeWith = (cors: readonly CorsRule[] | null) =>
  ({
    bucket: async (name: string) => {
      if (name !== "b") throw new ObjectFault("no-such-bucket", "none");
      return {};
    },
    setting: () => cors,
  }) as unknown as ObjectStore;

const is = (code: S3Code) => (error: unknown) => error instanceof S3Fault && error.code === code;

const asked = (origin: string, method: string, wanted?: string) => ({
  origin,
  "access-control-request-method": method,
  ...(wanted !== undefined && { "access-control-request-headers": wanted }),
});

const named = (headers: readonly string[] = []) =>
  Object.fromEntries(
    Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(2 * i, 2 * i + 2)),
  ) as Record<string, string>;

const preflightOf = async (cors: readonly CorsRule[] | null, headers: Record<string, string>) =>
  named((await preflight(storeWith(cors), "b", headers)).headers);

test("a browser that asks beforehand is told what the first rule that fits allows", async () => {
  const rules: CorsRule[] = [
    { ...rule, origins: ["https://a.example"], methods: ["GET"] },
    {
      origins: ["https://a.example"],
      methods: ["PUT", "POST"],
      headers: ["X-Amz-*", "content-type"],
      exposed: ["ETag", "x-amz-request-id"],
      maxAgeSeconds: 60,
    },
    { ...rule, origins: ["*"], methods: ["PUT"], headers: ["*"] },
  ];
  const given = asked("https://a.example", "PUT", "x-amz-date, Content-Type");
  assert.deepEqual(await preflightOf(rules, given), {
    "Access-Control-Allow-Origin": "https://a.example",
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Allow-Methods": "PUT, POST",
    "Access-Control-Allow-Headers": "x-amz-date, Content-Type",
    "Access-Control-Expose-Headers": "ETag, x-amz-request-id",
    "Access-Control-Max-Age": "60",
    Vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  });
  assert.deepEqual(await preflightOf(rules, asked("https://a.example", "PUT", "authorization")), {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "PUT",
    "Access-Control-Allow-Headers": "authorization",
    Vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  });
});

test("one * stands for anything, in the case given", async () => {
  const cases: [pattern: string, origin: string, fits: boolean][] = [
    ["*suffix", "foo.suffix", true],
    ["*suffix", "suffix", true],
    ["*suffix", "foo.suffix.get", false],
    ["start*end", "startend", true],
    ["start*end", "start12end", true],
    ["start*end", "0start12end", false],
    ["start*end", "starend", false],
    ["prefix*", "prefix.suffix", true],
    ["prefix*", "bla.prefix", false],
    ["https://a.example", "https://A.example", false],
    ["ab*ba", "aba", false],
  ];
  for (const [pattern, origin, fits] of cases) {
    const rules = [{ ...rule, origins: [pattern] }];
    const answer = preflightOf(rules, asked(origin, "GET"));
    if (fits) assert.equal((await answer)["Access-Control-Allow-Origin"], origin);
    else await assert.rejects(answer, is("AccessForbidden"), `${pattern} ${origin}`);
  }
});

test("who asks beforehand for too little, or for what no rule allows, is refused", async () => {
  const rules = [{ ...rule, origins: ["*"], headers: ["x-a"] }];
  await assert.rejects(preflightOf(rules, {}), is("BadRequest"));
  await assert.rejects(preflightOf(rules, { origin: "https://a" }), is("BadRequest"));
  await assert.rejects(preflightOf(rules, asked("https://a", "PUT")), is("AccessForbidden"));
  await assert.rejects(preflightOf(rules, asked("https://a", "GET", "x-b")), is("AccessForbidden"));
  await assert.rejects(preflightOf(null, asked("https://a", "GET")), is("AccessForbidden"));
  const nowhere = preflight(storeWith(rules), "other", asked("https://a", "GET"));
  await assert.rejects(nowhere, is("AccessForbidden"));
});

test("answers to requests have the headers of the rule that fits, and without an origin none", async () => {
  const rules = [{ ...rule, origins: ["https://a"], methods: ["GET", "HEAD"] }];
  const of = async (method: string, headers: Record<string, string>, bucket = "b") =>
    named(await corsHeaders(storeWith(rules), bucket, { method, headers }));
  assert.equal(
    (await of("HEAD", { origin: "https://a" }))["Access-Control-Allow-Methods"],
    "GET, HEAD",
  );
  assert.deepEqual(Object.keys(await of("PUT", { origin: "https://a" })), ["Vary"]);
  assert.deepEqual(Object.keys(await of("GET", { origin: "https://b" })), ["Vary"]);
  assert.deepEqual(await of("GET", {}), {});
  assert.deepEqual(await of("GET", { origin: "https://a" }, "other"), {});
  assert.deepEqual(await of("GET", { origin: "https://a" }, ""), {});
});

test("the method that a request names as the one it means is the one that counts", async () => {
  const rules = [{ ...rule, origins: ["*"] }];
  const headers = asked("https://a", "GET");
  const given = named(await corsHeaders(storeWith(rules), "b", { method: "PUT", headers }));
  assert.equal(given["Access-Control-Allow-Origin"], "*");
});
