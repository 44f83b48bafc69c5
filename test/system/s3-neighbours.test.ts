/** The S3 door beside the others: what one stores another sees, and proxies stand in front of it. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { until } from "../support/patience.ts";
import { readMetrics } from "../support/prometheus.ts";
import { startS3 } from "../support/s3.ts";
import { EMAIL, KEY } from "../support/server.ts";
import { type Ask, ask as askAt, documentOf, signed, textsOf } from "./s3-wire.ts";
import { Wire } from "./wire.ts";

const off = ["--dns", "off", "--edge", "off", "--edge-tls", "off"];
const server = await startS3({ args: [...off, "--s3-trusted-proxies", "127.0.0.1"] });
after(() => server[Symbol.asyncDispose]());

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(server.endpoint, method, { path, ...more });
const MIB = 1024 ** 2;

assert.equal((await ask("PUT", "/shared-1")).status, 200);
const bucket = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket("shared-1");

suite("a bucket", () => {
  test("shows scripts what S3 has put, and S3 what scripts have", async () => {
    const headers = { "content-type": "text/plain", "x-amz-meta-word": "=?UTF-8?B?w7w=?=" };
    const put = await ask("PUT", "/shared-1/from-s3", { body: "hello", headers });
    const object = (await bucket.get("from-s3"))!;
    assert.equal(await object.text(), "hello");
    assert.equal(object.httpEtag, put.headers.etag);
    assert.deepEqual(object.customMetadata, { word: "ü" });
    assert.equal(object.httpMetadata?.contentType, "text/plain");
    await bucket.put("from-script", "hi", {
      customMetadata: { plain: "x", "not a token ü": "y" },
      httpMetadata: { cacheControl: "no-store" },
    });
    const got = await ask("GET", "/shared-1/from-script");
    assert.equal(got.text, "hi");
    assert.equal(got.headers["x-amz-meta-plain"], "x");
    assert.equal(got.headers["x-amz-missing-meta"], "1");
    assert.equal(got.headers["cache-control"], "no-store");
  });

  test("finishes on either side an upload that was begun on the other", async () => {
    const large = new Uint8Array(5 * MIB).fill(1);
    const begun = await ask("POST", "/shared-1/crossing", { query: { uploads: "" } });
    const uploadId = textsOf(documentOf(begun), "UploadId")[0]!;
    const upload = bucket.resumeMultipartUpload("crossing", uploadId);
    const first = await upload.uploadPart(1, large);
    const query = { partNumber: "2", uploadId };
    const second = await ask("PUT", "/shared-1/crossing", { query, body: "end" });
    const parts = [first, { partNumber: 2, etag: second.headers.etag!.replaceAll('"', "") }];
    const { size } = await upload.complete(parts);
    assert.equal(size, 5 * MIB + 3);
    assert.equal((await ask("HEAD", "/shared-1/crossing")).headers["content-length"], String(size));

    const other = await bucket.createMultipartUpload("crossing-2");
    const { etag } = await other.uploadPart(1, "script");
    const listed = documentOf(
      await ask("GET", "/shared-1/crossing-2", { query: { uploadId: other.uploadId } }),
    );
    assert.deepEqual(textsOf(listed, "ETag"), [`"${etag}"`]);
    const completed = await ask("POST", "/shared-1/crossing-2", {
      query: { uploadId: other.uploadId },
      body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
    });
    assert.equal(completed.status, 200, completed.text);
    assert.equal(await (await bucket.get("crossing-2"))!.text(), "script");
  });
});

suite("a proxy in front", () => {
  /** Signed for one host, and sent on as a proxy does. */
  async function passedOn(endpoint: string, seen: string, ...forwarded: string[]) {
    const headers = signed(endpoint, "GET", { path: "/shared-1", headers: { host: seen } });
    const lines = Object.entries({ ...headers, host: "inner" }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    using wire = await Wire.open(endpoint);
    wire.write(["GET /shared-1 HTTP/1.1", ...lines, ...forwarded, "", ""].join("\r\n"));
    return (await wire.answer()).status;
  }

  test("that is trusted tells the host that was signed", async () => {
    const { endpoint } = server;
    const host = "X-Forwarded-Host: s3.example.com";
    assert.equal(await passedOn(endpoint, "s3.example.com", host), 200);
    const port = "X-Forwarded-Port: 8443";
    assert.equal(await passedOn(endpoint, "s3.example.com:8443", host, port), 200);
    assert.equal(await passedOn(endpoint, "other.example.com", host), 403);
  });

  test("that is not trusted is not believed", async () => {
    await using alone = await startS3({ args: off });
    const host = "X-Forwarded-Host: s3.example.com";
    assert.equal(await passedOn(alone.endpoint, "s3.example.com", host), 403);
  });
});

test("requests are counted by operation and status, and logged without their query", async () => {
  await ask("GET", "/shared-1", { query: { "list-type": "2", prefix: "hidden-prefix" } });
  await ask("HEAD", "/shared-1/none");
  // A request counts when its answer is out, which its client may see first.
  const count = async (operation: string, status: string) =>
    (await readMetrics(server)).value("selvedge_s3_requests_total", { operation, status });
  await until(async () => (await count("ListObjectsV2", "200")) >= 1);
  await until(async () => (await count("HeadObject", "404")) >= 1);
  await until(() => server.output.stderr.includes('"path":"/shared-1/none"'));
  assert.match(
    server.output.stderr,
    /"operation":"ListObjectsV2","method":"GET","path":"\/shared-1"/,
  );
  assert.doesNotMatch(server.output.stderr, /hidden-prefix/);
});
