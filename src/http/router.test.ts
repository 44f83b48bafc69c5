import assert from "node:assert/strict";
import { test } from "node:test";
import { Router } from "./router.ts";

const router = new Router<string>();
router.add("GET", "/tokens", "list");
router.add("POST", "/tokens", "create");
router.add("GET", "/tokens/verify", "verify");
router.add("GET", "/tokens/:id", "get");
router.add("PUT", "/tokens/:id/value", "roll");

test("a path leads to its methods, with its parameters", () => {
  const found = (path: string, method: string) => router.match(path)?.methods.get(method);
  assert.equal(found("/tokens", "GET"), "list");
  assert.equal(found("/tokens", "POST"), "create");
  assert.equal(found("/tokens/verify", "GET"), "verify", "a fixed segment wins");
  assert.equal(found("/tokens/42/value", "PUT"), "roll");
  assert.deepEqual(router.match("/tokens/42"), {
    path: "/tokens/:id",
    methods: new Map([["GET", "get"]]),
    params: { id: "42" },
  });
});

test("the rest of a path may be one parameter", () => {
  const files = new Router<string>();
  files.add("GET", "/files", "list");
  files.add("GET", "/files/*path", "get");
  assert.deepEqual(files.match("/files")?.methods.get("GET"), "list");
  for (const path of ["a", "a/b.txt", "a//b/", "/", "", "%2F"]) {
    const match = files.match(`/files/${path}`);
    assert.deepEqual([match?.path, match?.params], ["/files/*path", { path }], path);
  }
});

test("a path that was not declared leads nowhere", () => {
  for (const path of [
    "",
    "/",
    "tokens",
    "/token",
    "/tokens/",
    "//tokens",
    "/tokens/1/",
    "/tokens/1/x",
    "/tokens//value",
  ]) {
    assert.equal(router.match(path), null, path);
  }
});

test("a declaration that contradicts another is refused", () => {
  assert.throws(() => router.add("GET", "/tokens", "again"), /declared twice/);
  assert.throws(() => router.add("GET", "/tokens/:name/x", "other"), /another path calls :id/);
});
