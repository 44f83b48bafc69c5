import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { EMPTY_PAYLOAD_HASH, escapePath, escapeQuery, signRequest } from "./sigv4.ts";

/** The worked examples of the S3 API Reference, "Signature Calculations for the Authorization Header". */
suite("a request is signed as in the published example:", () => {
  const signing = {
    key: { id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
    region: "us-east-1",
    service: "s3",
    now: Date.UTC(2013, 4, 24),
  };
  const get = {
    method: "GET",
    path: "/",
    query: {},
    headers: { host: "examplebucket.s3.amazonaws.com" },
    payloadHash: EMPTY_PAYLOAD_HASH,
  };
  const signatureOf = (headers: Record<string, string>) =>
    headers["authorization"]!.split("Signature=")[1];

  test("a range of an object", () => {
    const headers = { ...get.headers, range: "bytes=0-9" };
    const signed = signRequest({ ...get, path: "/test.txt", headers }, signing);
    assert.equal(
      signed["authorization"],
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, " +
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, " +
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
    assert.equal(signed["x-amz-date"], "20130524T000000Z");
  });

  test("an object with a character to escape", () => {
    const signed = signRequest(
      {
        method: "PUT",
        path: escapePath("/test$file.text"),
        query: {},
        headers: {
          ...get.headers,
          date: "Fri, 24 May 2013 00:00:00 GMT",
          "x-amz-storage-class": "REDUCED_REDUNDANCY",
        },
        payloadHash: createHash("sha256").update("Welcome to Amazon S3.").digest("hex"),
      },
      signing,
    );
    assert.equal(
      signatureOf(signed),
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
  });

  test("a query without a value", () => {
    const signed = signRequest({ ...get, query: { lifecycle: "" } }, signing);
    assert.equal(
      signatureOf(signed),
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
  });

  test("a query of several words", () => {
    const signed = signRequest({ ...get, query: { "max-keys": "2", prefix: "J" } }, signing);
    assert.equal(
      signatureOf(signed),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
  });
});

test("the token of a temporary key is sent and signed", () => {
  const signed = signRequest(
    { method: "GET", path: "/", query: {}, headers: { host: "a" }, payloadHash: "b" },
    { key: { id: "c", secret: "d", sessionToken: "e" }, region: "f", service: "s3", now: 0 },
  );
  assert.equal(signed["x-amz-security-token"], "e");
  assert.match(signed["authorization"]!, /;x-amz-security-token,/);
});

test("paths keep their slashes, queries are sorted, and both escape all but the unreserved", () => {
  assert.equal(escapePath("/a b/(c)*!'/é~-._"), "/a%20b/%28c%29%2A%21%27/%C3%A9~-._");
  assert.equal(escapeQuery({ b: "x/y", a: "=&", "a-b": "" }), "a=%3D%26&a-b=&b=x%2Fy");
});
