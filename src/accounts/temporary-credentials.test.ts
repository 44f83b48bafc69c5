import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { AccountFault, type AccountFaultKind } from "./fault.ts";
import type { OpenS3Key } from "./s3-keys.ts";
import { mintTemporary, openSession } from "./temporary-credentials.ts";

const NOW = 1_700_000_000_000;
const KEY: OpenS3Key = {
  accessKeyId: "parent",
  secretAccessKey: "secret",
  accountId: "account",
  name: "parent",
  permission: "read-write",
  buckets: null,
  operations: null,
  expiresAt: null,
  createdAt: 0,
  lastUsedAt: null,
};
const wish = {
  bucket: "photos",
  permission: "read-only",
  prefixes: ["2026/"],
  objects: ["x.txt"],
  ttlSeconds: 900,
} as const;

const is = (kind: AccountFaultKind) => (error: unknown) =>
  error instanceof AccountFault && error.kind === kind;

/** As a client makes it by itself. */
function tokenOf(claims: object, header: object = { alg: "HS256" }, secret = "secret"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  const signature = createHmac("sha256", secret).update(signed).digest("base64url");
  return Buffer.from(`jwt/${signed}.${signature}`).toString("base64");
}

const claims = { bucket: "photos", scope: "object-read-only", exp: NOW / 1_000 + 60 };

suite("temporary credentials", () => {
  test("open what they were made for", () => {
    const { accessKeyId, secretAccessKey, sessionToken } = mintTemporary(KEY, wish, NOW);
    assert.equal(accessKeyId, "parent");
    assert.match(secretAccessKey, /^[0-9a-f]{64}$/);
    const session = openSession(KEY, sessionToken, NOW);
    assert.deepEqual(session, {
      permission: "read-only",
      buckets: [{ bucket: "photos", prefixes: ["2026/"], objects: ["x.txt"] }],
      operations: null,
      secretAccessKey,
      expiresAt: NOW + 900_000,
    });
  });

  test("that a client has made itself are as good", () => {
    const made = tokenOf({
      ...claims,
      actions: ["GetObject", "ListObjectsV1"],
      paths: { prefixPaths: ["a/"] },
      iss: "parent",
      sub: "account",
      aud: "any.host",
    });
    const session = openSession(KEY, made, NOW);
    assert.deepEqual(session.buckets, [{ bucket: "photos", prefixes: ["a/"], objects: [] }]);
    assert.deepEqual([...session.operations!], ["GetObject", "ListObjects"]);
  });

  test("cannot be made for more than their key has", () => {
    const mint = (change: object, parent = KEY) =>
      mintTemporary(parent, { ...wish, ...change }, NOW);
    assert.throws(() => mint({ permission: "admin", prefixes: [], objects: [] }), is("bad-key"));
    const narrow = { ...KEY, buckets: [{ bucket: "others", prefixes: [], objects: [] }] };
    assert.throws(() => mint({}, narrow), is("bad-key"));
    assert.throws(() => mint({ bucket: "No" }), is("bad-key"));
  });

  test("end", () => {
    const { sessionToken } = mintTemporary(KEY, wish, NOW);
    openSession(KEY, sessionToken, NOW + 899_999);
    assert.throws(() => openSession(KEY, sessionToken, NOW + 900_000), is("expired-session"));
  });

  for (const [what, token] of [
    ["nothing", ""],
    ["no token", Buffer.from("jwt/x").toString("base64")],
    ["another mark", Buffer.from("saml/a.b.c").toString("base64")],
    ["another's signature", tokenOf(claims, { alg: "HS256" }, "other")],
    ["no signature", tokenOf(claims).slice(0, -60)],
    ["another algorithm", tokenOf(claims, { alg: "none" })],
    ["no end", tokenOf({ ...claims, exp: undefined })],
    ["too far an end", tokenOf({ ...claims, exp: NOW / 1_000 + 604_801 })],
    ["no bucket", tokenOf({ ...claims, bucket: undefined })],
    ["no scope", tokenOf({ ...claims, scope: undefined })],
    ["a scope that is none", tokenOf({ ...claims, scope: "constructor" })],
    ["paths that are none", tokenOf({ ...claims, paths: { prefixPaths: "a" } })],
    ["actions that are none", tokenOf({ ...claims, actions: [1] })],
    ["another key's name", tokenOf({ ...claims, iss: "other" })],
    ["another account", tokenOf({ ...claims, sub: "other" })],
  ] as const) {
    test(`with ${what} open nothing`, () => {
      assert.throws(() => openSession(KEY, token, NOW), is("bad-session"));
    });
  }
});

test("paths that cannot be read open nothing, rather than the whole bucket", () => {
  for (const paths of ["2026/", ["2026/"], 1, true, { prefixPaths: "2026/" }]) {
    assert.throws(() => openSession(KEY, tokenOf({ ...claims, paths }), NOW), is("bad-session"));
  }
  for (const paths of [null, {}]) {
    const { buckets } = openSession(KEY, tokenOf({ ...claims, paths }), NOW);
    assert.deepEqual(buckets, [{ bucket: "photos", prefixes: [], objects: [] }]);
  }
});
