/** What a deploy tells of its changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeLine, changesBetween, type ScriptState } from "./changes.ts";

const SECRETS = new Set(["secret_text"]);

const before: ScriptState = {
  bytes: 1_024,
  compatibilityDate: "2026-01-01",
  compatibilityFlags: ["a", "b"],
  bindings: [
    { type: "plain_text", name: "GREETING", text: "hello" },
    { type: "json", name: "LIMITS", json: { most: 5 } },
    { type: "store_bucket", name: "PHOTOS", bucket_name: "photos" },
    { type: "service", name: "AUTH", service: "auth", environment: "production" },
    { type: "secret_text", name: "KEY" },
  ],
  routes: ["a.example/*", "b.example/*"],
  domains: ["app.example"],
  crons: ["* * * * *"],
  urls: ["http://shop.me.test"],
};

const lines = (was: ScriptState | null, is: ScriptState) =>
  changesBetween(was, is, SECRETS).map(changeLine);

test("the same again is no change; secrets stay, and what the server adds does not count", () => {
  const bindings = [
    { type: "service", name: "AUTH", service: "auth" },
    ...before.bindings.slice(0, 3),
  ];
  assert.deepEqual(lines(before, { ...before, bindings }), []);
});

test("what comes, goes and changes is told", () => {
  const after: ScriptState = {
    bytes: 2_048,
    compatibilityDate: "2026-02-02",
    compatibilityFlags: ["b", "c"],
    bindings: [
      { type: "plain_text", name: "GREETING", text: "hi" },
      { type: "r2_bucket", name: "PHOTOS", bucket_name: "photos" },
      { type: "service", name: "LOGIN", service: "auth", entrypoint: "Login" },
      { type: "version_metadata", name: "VERSION" },
    ],
    routes: ["b.example/*", "c.example/*"],
    domains: ["app.example", "cd.example"],
    crons: [],
    urls: [],
  };
  assert.deepEqual(lines(before, after), [
    "~ size: 1 KiB → 2 KiB",
    "~ compatibility_date: 2026-01-01 → 2026-02-02",
    "- flag a",
    "+ flag c",
    '~ binding GREETING: var "hello" → var "hi"',
    '- binding LIMITS: var {"most":5}',
    "~ binding PHOTOS: bucket photos → bucket photos (as r2_buckets)",
    "- binding AUTH: service auth",
    "+ binding LOGIN: service auth.Login",
    "+ binding VERSION: version",
    "- route a.example/*",
    "+ route c.example/*",
    "+ domain cd.example",
    "- cron * * * * *",
    "- url http://shop.me.test",
  ]);
});

test("routes and crons that the project does not speak of stay", () => {
  assert.deepEqual(lines(before, { ...before, routes: null, domains: null, crons: null }), []);
});

test("a script that is new has everything new", () => {
  const bindings = [{ type: "store_bucket", name: "PHOTOS", bucket_name: "photos" }];
  const after = {
    ...before,
    compatibilityFlags: [],
    bindings,
    routes: null,
    domains: null,
    crons: null,
  };
  assert.deepEqual(lines(null, after), [
    "+ size: 1 KiB",
    "+ compatibility_date: 2026-01-01",
    "+ binding PHOTOS: bucket photos",
    "+ url http://shop.me.test",
  ]);
});

test("a size that the server does not tell is not compared", () => {
  assert.deepEqual(lines({ ...before, bytes: null }, { ...before, bytes: 5 }), []);
});
