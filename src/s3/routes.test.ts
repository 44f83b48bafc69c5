import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "./operations/index.ts";
import { Routes } from "./routes.ts";
import { readTarget } from "./target.ts";

const routes = new Routes(operations);
const find = (method: string, target: string, copies = false) =>
  routes.find(method, readTarget(target, "h", []), copies).name;

test("method, place and sub-resource tell an operation", () => {
  for (const [method, target, name] of [
    ["GET", "/", "ListBuckets"],
    ["GET", "/b", "ListObjects"],
    ["GET", "/b/?list-type=2&prefix=a", "ListObjectsV2"],
    ["GET", "/b?versions", "ListObjectVersions"],
    ["GET", "/b?uploads=", "ListMultipartUploads"],
    ["GET", "/b?location", "GetBucketLocation"],
    ["POST", "/b/?delete=", "DeleteObjects"],
    ["PUT", "/b/k?x-id=PutObject", "PutObject"],
    ["GET", "/b/k?partNumber=1&versionId=null", "GetObject"],
    ["POST", "/b/k?uploads", "CreateMultipartUpload"],
    ["PUT", "/b/k?uploadId=u&partNumber=1", "UploadPart"],
    ["GET", "/b/k?uploadId=u", "ListParts"],
    ["POST", "/b/k?uploadId=u", "CompleteMultipartUpload"],
    ["DELETE", "/b/k?uploadId=u", "AbortMultipartUpload"],
    ["DELETE", "/b/k", "DeleteObject"],
    ["GET", "/b/k?attributes", "GetObjectAttributes"],
    ["PUT", "/b?cors", "PutBucketCors"],
  ] as const) {
    assert.equal(find(method, target), name, `${method} ${target}`);
  }
  assert.equal(find("PUT", "/b/k", true), "CopyObject");
  assert.equal(find("PUT", "/b/k?uploadId=u&partNumber=1", true), "UploadPartCopy");
});

test("a copy is one wherever its source stands: presigned, its headers may be in the query", () => {
  assert.equal(find("PUT", "/b/k?x-amz-copy-source=b%2Fa"), "CopyObject");
  const part = "/b/k?uploadId=u&partNumber=1&X-Amz-Copy-Source=b%2Fa";
  assert.equal(find("PUT", part), "UploadPartCopy");
});

test("a sub-resource that is not offered never falls through to the object or the list", () => {
  for (const [method, target] of [
    ["PUT", "/b/k?retention"],
    ["GET", "/b/k?torrent"],
    ["POST", "/b/k?restore"],
    ["GET", "/b?inventory"],
    ["GET", "/b?session"],
    ["PUT", "/b?policy"],
    ["PUT", "/"],
  ] as const) {
    assert.throws(() => find(method, target), { code: "NotImplemented" }, `${method} ${target}`);
  }
});

test("a parameter that would go unheard is refused, but not where objects are read", () => {
  assert.throws(() => find("GET", "/b?newest-first=true"), {
    code: "NotImplemented",
    message: "The query parameter newest-first is not implemented.",
  });
  assert.throws(() => find("PUT", "/b/k?some-new-thing"), { code: "NotImplemented" });
  assert.equal(find("GET", "/b/k?v=123"), "GetObject");
  assert.equal(find("PUT", "/b/k?X-Amz-Signature=x&x-amz-meta-a=b"), "PutObject");
});

test("mc's wish for metadata in its lists is no reason to refuse them", () => {
  assert.equal(find("GET", "/b?list-type=2&metadata=true&prefix="), "ListObjectsV2");
  assert.equal(find("GET", "/b?versions=&metadata=true&prefix="), "ListObjectVersions");
});

test("a URL of an older signature is left to be refused in its own words, whatever it carries", () => {
  const url = "/b/k?AWSAccessKeyId=a&Signature=s&Expires=1&content-type=text%2Fplain";
  assert.equal(find("PUT", url), "PutObject");
  assert.throws(() => find("PUT", url.replace("&Signature=s", "")), { code: "NotImplemented" });
});

test("two sub-resources contradict each other", () => {
  assert.throws(() => find("GET", "/b/k?acl&tagging"), { code: "InvalidArgument" });
});

test("a method that nothing takes is not allowed", () => {
  assert.throws(() => find("PATCH", "/b/k"), { code: "MethodNotAllowed", status: 405 });
});
