import assert from "node:assert/strict";
import { test } from "node:test";
import { readTarget } from "./target.ts";

const place = (target: string, host = "127.0.0.1:9000", domains: readonly string[] = []) => {
  const { bucket, key } = readTarget(target, host, domains);
  return [bucket, key];
};

test("bucket and key are split once, and nothing of the key is normalised", () => {
  assert.deepEqual(place("/"), ["", ""]);
  assert.deepEqual(place("/b"), ["b", ""]);
  assert.deepEqual(place("/b/"), ["b", ""]);
  assert.deepEqual(place("/b//"), ["b", "/"]);
  assert.deepEqual(place("/b/a//b/../c/./"), ["b", "a//b/../c/./"]);
  assert.deepEqual(place("/b/.."), ["b", ".."]);
});

test("keys are percent-decoded once, as UTF-8, and a plus is a plus", () => {
  assert.deepEqual(place("/b/a%2Fb+c%20d%2B%C3%A9"), ["b", "a/b+c d+é"]);
  assert.deepEqual(place("/b/%2525"), ["b", "%25"]);
  assert.deepEqual(place("/b/%00"), ["b", "\0"]);
});

test("octets beyond ASCII, which Node gives as Latin-1, are UTF-8", () => {
  assert.deepEqual(place(`/b/${Buffer.from("é/€").toString("latin1")}`), ["b", "é/€"]);
});

test("what is no UTF-8 or no escape is an invalid address", () => {
  for (const target of ["/b/%ff", "/b/%", "/b/%zz", "/b/\xff", "/b?a=%c3"]) {
    assert.throws(() => place(target), { code: "InvalidURI" }, target);
  }
});

test("a path without a bucket is refused", () => {
  assert.throws(() => place("//key"), { code: "InvalidBucketName" });
});

test("a target may be a whole address", () => {
  assert.deepEqual(place("http://s3.test:9000/b/k?x"), ["b", "k"]);
  assert.deepEqual(place("http://s3.test"), ["", ""]);
});

test("names of the query count with and without a value, in their order", () => {
  const { query } = readTarget("/b?delete&x-id=A%20b&prefix=a+b=c&&", "h", []);
  assert.deepEqual(query, [
    ["delete", ""],
    ["x-id", "A b"],
    ["prefix", "a+b=c"],
  ]);
});

test("a host under a domain names the bucket, and the whole path is the key", () => {
  const domains = ["s3.test", "other.test"];
  assert.deepEqual(place("/a/b", "mine.s3.test:9000", domains), ["mine", "a/b"]);
  assert.deepEqual(place("/", "MINE.other.test", domains), ["mine", ""]);
  assert.deepEqual(place("/a/b", "s3.test", domains), ["a", "b"]);
  assert.deepEqual(place("/a/b", "mines3.test", domains), ["a", "b"]);
  assert.deepEqual(place("/a/b", "127.0.0.1:9000", domains), ["a", "b"]);
  assert.deepEqual(place("//x", "mine.s3.test", domains), ["mine", "/x"]);
});
