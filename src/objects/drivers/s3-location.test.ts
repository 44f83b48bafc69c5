import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, parseS3Url } from "./s3-location.ts";

test("a URL says where the bucket is", () => {
  const { endpoint, ...rest } = parseS3Url(
    "s3://My_bucket.x/a/b/?endpoint=http://[::1]:9000&region=auto",
  );
  assert.equal(endpoint.origin, "http://[::1]:9000");
  assert.deepEqual(rest, {
    region: "auto",
    bucket: "My_bucket.x",
    prefix: "a/b/",
    isVirtualHost: false,
  });
});

test("without an endpoint it is that of AWS in the region", () => {
  assert.equal(parseS3Url("s3://bucket").endpoint.href, "https://s3.us-east-1.amazonaws.com/");
  const { endpoint } = parseS3Url("s3://bucket?region=eu-west-1");
  assert.equal(endpoint.href, "https://s3.eu-west-1.amazonaws.com/");
});

test("the bucket stands in the path, or in the host where the service wants it there", () => {
  const path = parseS3Url("s3://bucket/p?endpoint=https://store.test:9000");
  assert.deepEqual(addressOf(path, "p/id"), { host: "store.test:9000", path: "/bucket/p/id" });
  assert.deepEqual(addressOf(path, ""), { host: "store.test:9000", path: "/bucket" });
  const host = parseS3Url("s3://bucket/p?endpoint=https://store.test&style=virtual");
  assert.deepEqual(addressOf(host, "p/id"), { host: "bucket.store.test", path: "/p/id" });
  assert.deepEqual(addressOf(host, ""), { host: "bucket.store.test", path: "/" });
});
