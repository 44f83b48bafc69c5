import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import type { OpenS3Key } from "#accounts";
import { sign, signingKey } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import { Authentication } from "./authentication.ts";
import { authenticatePost } from "./post-policy.ts";

const NOW = Date.UTC(2026, 10, 15);
const KEY: OpenS3Key = {
  accessKeyId: "AKIA",
  secretAccessKey: "never-shown",
  accountId: "account",
  name: "forms",
  permission: "read-write",
  buckets: null,
  operations: null,
  expiresAt: null,
  createdAt: 0,
  lastUsedAt: null,
};
const authentication = new Authentication({
  find: async (id) => (id === KEY.accessKeyId ? KEY : null),
  onUse: () => {},
  now: () => NOW,
});

const CONDITIONS = [
  { bUcKeT: "photos" },
  ["StArTs-WiTh", "$KeY", "user/"],
  ["eq", "$x-amz-meta-a", "b"],
  ["starts-with", "$Content-Type", ""],
  ["content-length-range", 1, "1024"],
];
const EXPIRATION = "2026-11-15T01:00:00Z";

const encode = (policy: unknown) =>
  Buffer.from(typeof policy === "string" ? policy : JSON.stringify(policy)).toString("base64");

/** A form as it was signed in the older way, with what is changed in it. */
function form(policy: unknown, change: Record<string, string | null> = {}): Map<string, string> {
  const encoded = encode(policy);
  const fields: Record<string, string | null> = {
    key: "user/a",
    "x-amz-meta-a": "b",
    "x-ignore-me": "anything",
    policy: encoded,
    awsaccesskeyid: KEY.accessKeyId,
    signature: createHmac("sha1", KEY.secretAccessKey).update(encoded).digest("base64"),
    ...change,
  };
  return new Map(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== null),
  );
}

const post = (policy: unknown, change?: Record<string, string | null>, bucket = "photos") =>
  authenticatePost(authentication, form(policy, change), bucket);

const right = { expiration: EXPIRATION, conditions: CONDITIONS };

const isFault = (code: string, status: number) => (error: unknown) => {
  assert(error instanceof S3Fault, String(error));
  assert.deepEqual([error.code, error.status], [code, status], error.message);
  assert(!JSON.stringify([error.message, error.extra]).includes(KEY.secretAccessKey));
  return true;
};

suite("the policy of a form", () => {
  test("lets through what was signed, and tells how large the file may be", async () => {
    const { caller, ...range } = await post(right);
    assert.equal(caller.accessKeyId, KEY.accessKeyId);
    assert.deepEqual(range, { leastOctets: 1, mostOctets: 1024 });
    await post(right, { "content-type": "image/png" });
  });

  test("may be signed in the way of version 4", async () => {
    const conditions = [
      ...CONDITIONS,
      ["starts-with", "$x-amz-algorithm", ""],
      ["starts-with", "$x-amz-credential", ""],
      ["starts-with", "$x-amz-date", ""],
    ];
    const policy = { expiration: EXPIRATION, conditions };
    const key = signingKey(KEY.secretAccessKey, "20261115", "auto", "s3");
    const change = {
      awsaccesskeyid: null,
      signature: null,
      "x-amz-algorithm": "AWS4-HMAC-SHA256",
      "x-amz-credential": "AKIA/20261115/auto/s3/aws4_request",
      "x-amz-date": "20261115T000000Z",
      "x-amz-signature": sign(key, encode(policy)),
    };
    assert.equal((await post(policy, change)).caller.accountId, "account");
    const wrong = { ...change, "x-amz-signature": "0".repeat(64) };
    await assert.rejects(post(policy, wrong), isFault("SignatureDoesNotMatch", 403));
    for (const name of ["x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature"]) {
      await assert.rejects(
        post(policy, { ...change, [name]: null }),
        isFault("InvalidArgument", 400),
      );
    }
    for (const name of ["x-amz-algorithm", "x-amz-credential", "x-amz-date"]) {
      await assert.rejects(
        post(policy, { ...change, [name]: "x" }),
        isFault("InvalidArgument", 400),
      );
    }
  });

  for (const [what, change, code, status] of [
    ["has no policy", { policy: null }, "AccessDenied", 403],
    ["has no signature", { signature: null }, "InvalidArgument", 400],
    ["has a wrong signature", { signature: "AAAA" }, "SignatureDoesNotMatch", 403],
    ["has an unknown key", { awsaccesskeyid: "other" }, "InvalidAccessKeyId", 403],
    ["has another policy than was signed", { policy: encode({}) }, "SignatureDoesNotMatch", 403],
    ["has a key outside of it", { key: "other/a" }, "AccessDenied", 403],
    ["has another value", { "x-amz-meta-a": "c" }, "AccessDenied", 403],
    ["lacks a field of it", { "x-amz-meta-a": null }, "AccessDenied", 403],
    ["has a field more", { acl: "public-read" }, "AccessDenied", 403],
  ] as const) {
    test(`stops a form that ${what}`, async () => {
      await assert.rejects(post(right, change), isFault(code, status));
    });
  }

  test("stops a form for another bucket, and must name the bucket", async () => {
    await assert.rejects(post(right, {}, "other"), isFault("AccessDenied", 403));
    const silent = { expiration: EXPIRATION, conditions: CONDITIONS.slice(1) };
    await assert.rejects(post(silent), isFault("AccessDenied", 403));
  });

  test("ends", async () => {
    const late = { ...right, expiration: "2026-11-15T00:00:00.000Z" };
    await assert.rejects(post(late), isFault("AccessDenied", 403));
  });

  for (const [what, policy] of [
    ["is no JSON", "{"],
    ["is no object", "null"],
    ["does not end", { conditions: CONDITIONS }],
    ["ends at no time", { ...right, expiration: "2026-11-15 01:00:00" }],
    ["has no conditions", { expiration: EXPIRATION }],
    ["spells its parts in another case", { EXPIRATION, CONDITIONS }],
    ["has an empty condition", { ...right, conditions: [{}] }],
    ["has two conditions in one", { ...right, conditions: [{ a: "b", c: "d" }] }],
    ["has an operator that is none", { ...right, conditions: [["ends-with", "$key", "x"]] }],
    ["has a field without its dollar", { ...right, conditions: [["eq", "key", "x"]] }],
    ["has a range without an end", { ...right, conditions: [["content-length-range", 0]] }],
    ["has a negative range", { ...right, conditions: [["content-length-range", -1, 0]] }],
    ["has null among its conditions", { ...right, conditions: [null] }],
  ] as const) {
    test(`that ${what} is refused`, async () => {
      await assert.rejects(post(policy), isFault("InvalidPolicyDocument", 400));
    });
  }
});

test("a policy with things where texts belong is invalid, and no failure of ours", async () => {
  const thing = { toString: 1, valueOf: 1 };
  for (const condition of [[thing, "$key", ""], ["content-length-range", thing, thing], [null]]) {
    const policy = { expiration: EXPIRATION, conditions: [condition] };
    await assert.rejects(
      post(policy),
      { code: "InvalidPolicyDocument" },
      JSON.stringify(condition),
    );
  }
});

test("of several ranges all must hold", async () => {
  const conditions = [
    ...CONDITIONS,
    ["content-length-range", 10, 20],
    ["content-length-range", 5, 2000],
  ];
  const { leastOctets, mostOctets } = await post({ expiration: EXPIRATION, conditions });
  assert.deepEqual([leastOctets, mostOctets], [10, 20]);
});
