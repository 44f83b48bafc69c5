/** Multipart uploads over the S3 door, and beside the binding's. */
import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { after, suite, test } from "node:test";
import { startS3 } from "../support/s3.ts";
import { type Ask, ask as askAt, codeOf, documentOf, textsOf } from "./s3-wire.ts";

const server = await startS3({ args: ["--dns", "off", "--edge", "off", "--edge-tls", "off"] });
after(() => server[Symbol.asyncDispose]());

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(server.endpoint, method, { path, ...more });
const MIB = 1024 ** 2;

assert.equal((await ask("PUT", "/b-1")).status, 200);

async function begin(key: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await ask("POST", `/b-1/${key}`, { query: { uploads: "" }, headers });
  return textsOf(documentOf(answer), "UploadId")[0]!;
}

async function putPart(
  key: string,
  uploadId: string,
  partNumber: number,
  body: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<string> {
  const query = { partNumber: String(partNumber), uploadId };
  const answer = await ask("PUT", `/b-1/${key}`, { query, body, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.headers.etag!;
}

const part = (number: number, etag: string, more = "") =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${more}</Part>`;

const complete = (key: string, uploadId: string, parts: string, more: Omit<Ask, "path"> = {}) =>
  ask("POST", `/b-1/${key}`, {
    query: { uploadId },
    body: `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`,
    ...more,
  });

suite("an upload", () => {
  const large = randomBytes(5 * MIB);
  const small = randomBytes(17);

  test("becomes one object of its parts, with what it was begun with", async () => {
    const uploadId = await begin("joined", {
      "content-type": "text/plain",
      "x-amz-meta-a": "1",
      "x-amz-storage-class": "STANDARD_IA",
      "x-amz-tagging": "t=1",
    });
    const last = await putPart("joined", uploadId, 7, small);
    const first = await putPart("joined", uploadId, 2, large);
    const answer = await complete("joined", uploadId, part(2, first) + part(7, last));
    const etag = hash(
      "md5",
      Buffer.concat([hash("md5", large, "buffer"), hash("md5", small, "buffer")]),
      "hex",
    );
    assert.deepEqual(textsOf(documentOf(answer), "ETag"), [`"${etag}-2"`]);
    const got = await ask("GET", "/b-1/joined");
    assert.ok(got.body.equals(Buffer.concat([large, small])));
    assert.equal(got.headers["content-type"], "text/plain");
    assert.equal(got.headers["x-amz-meta-a"], "1");
    assert.equal(got.headers["x-amz-storage-class"], "STANDARD_IA");
    assert.equal(got.headers["x-amz-tagging-count"], "1");
    const again = await complete("joined", uploadId, part(2, first) + part(7, last));
    assert.deepEqual([again.status, again.text], [answer.status, answer.text]);
  });

  test("can be read by its parts", async () => {
    for (const method of ["GET", "HEAD"]) {
      const second = await ask(method, "/b-1/joined", { query: { partNumber: "2" } });
      assert.equal(second.status, 206);
      assert.equal(second.headers["x-amz-mp-parts-count"], "2");
      assert.equal(second.headers["content-length"], "17");
      const range = `bytes ${large.length}-${large.length + 16}/${large.length + 17}`;
      assert.equal(second.headers["content-range"], range);
      if (method === "GET") assert.ok(second.body.equals(small));
    }
    const third = await ask("GET", "/b-1/joined", { query: { partNumber: "3" } });
    assert.equal(third.status, 400);
    const headers = { "x-amz-object-attributes": "ETag,ObjectParts,ObjectSize,StorageClass" };
    const told = documentOf(
      await ask("GET", "/b-1/joined", { query: { attributes: "" }, headers }),
    );
    assert.deepEqual(textsOf(told, "PartsCount"), ["2"]);
    assert.deepEqual(textsOf(told, "Size"), [String(large.length), "17"]);
    assert.deepEqual(textsOf(told, "ObjectSize"), [String(large.length + 17)]);
  });

  test("is listed with its parts until it ends", async () => {
    const uploadId = await begin("pending");
    await putPart("pending", uploadId, 1, "one");
    await putPart("pending", uploadId, 3, "three");
    const listed = documentOf(await ask("GET", "/b-1", { query: { uploads: "" } }));
    assert.deepEqual(textsOf(listed, "Key"), ["pending"]);
    assert.deepEqual(textsOf(listed, "UploadId"), [uploadId]);
    const query = { uploadId, "max-parts": "1" };
    const first = documentOf(await ask("GET", "/b-1/pending", { query }));
    assert.deepEqual(textsOf(first, "PartNumber"), ["1"]);
    assert.deepEqual(textsOf(first, "IsTruncated"), ["true"]);
    const marker = textsOf(first, "NextPartNumberMarker")[0]!;
    const rest = documentOf(
      await ask("GET", "/b-1/pending", { query: { uploadId, "part-number-marker": marker } }),
    );
    assert.deepEqual(textsOf(rest, "PartNumber"), ["3"]);
    assert.equal((await ask("HEAD", "/b-1/pending")).status, 404);
    assert.equal((await ask("DELETE", "/b-1/pending", { query: { uploadId } })).status, 204);
    assert.equal(codeOf(await ask("GET", "/b-1/pending", { query: { uploadId } })), "NoSuchUpload");
    const none = documentOf(await ask("GET", "/b-1", { query: { uploads: "" } }));
    assert.deepEqual(textsOf(none, "Upload"), []);
  });

  test("is completed only with parts that are there, in order and large enough", async () => {
    const uploadId = await begin("wrong");
    const one = await putPart("wrong", uploadId, 1, "too small");
    const two = await putPart("wrong", uploadId, 2, "last");
    for (const [parts, code] of [
      ["", "MalformedXML"],
      [part(2, two) + part(1, one), "InvalidPartOrder"],
      [part(1, one) + part(1, one), "InvalidPartOrder"],
      [part(1, '"00000000000000000000000000000000"'), "InvalidPart"],
      [part(3, one), "InvalidPart"],
      [part(1, one) + part(2, two), "EntityTooSmall"],
      [`<Part><PartNumber>one</PartNumber><ETag>x</ETag></Part>`, "InvalidArgument"],
      ["<Part><ETag>x</ETag></Part>", "MalformedXML"],
    ] as const) {
      const answer = await complete("wrong", uploadId, parts);
      assert.deepEqual([answer.status, codeOf(answer)], [400, code], parts);
    }
    const unknown = await complete("wrong", "0".repeat(32), part(1, one));
    assert.deepEqual([unknown.status, codeOf(unknown)], [404, "NoSuchUpload"]);
    assert.equal((await ask("HEAD", "/b-1/wrong")).status, 404);
    assert.equal((await complete("wrong", uploadId, part(2, two))).status, 200);
    assert.equal((await ask("GET", "/b-1/wrong")).text, "last");
  });

  test("is completed under conditions, and stays open when they fail", async () => {
    assert.equal((await ask("PUT", "/b-1/taken", { body: "x" })).status, 200);
    const uploadId = await begin("taken");
    const etag = await putPart("taken", uploadId, 1, "new");
    const guarded = await complete("taken", uploadId, part(1, etag), {
      headers: { "if-none-match": "*" },
    });
    assert.deepEqual([guarded.status, codeOf(guarded)], [412, "PreconditionFailed"]);
    assert.equal((await ask("GET", "/b-1/taken")).text, "x");
    const wrongSize = await complete("taken", uploadId, part(1, etag), {
      headers: { "x-amz-mp-object-size": "4" },
    });
    assert.equal(wrongSize.status, 400);
    assert.equal((await complete("taken", uploadId, part(1, etag))).status, 200);
  });

  test("numbers its parts from 1 to 10000", async () => {
    const uploadId = await begin("numbers");
    for (const partNumber of ["0", "10001", "x", "-1", ""]) {
      const query = { partNumber, uploadId };
      const answer = await ask("PUT", "/b-1/numbers", { query, body: "x" });
      assert.deepEqual([answer.status, codeOf(answer)], [400, "InvalidArgument"], partNumber);
    }
    const query = { partNumber: "1", uploadId: "none" };
    assert.equal(codeOf(await ask("PUT", "/b-1/numbers", { query, body: "x" })), "NoSuchUpload");
  });

  test("takes ranges of other objects as its parts", async () => {
    const uploadId = await begin("copied");
    const copyPart = (source: string, range?: string) =>
      ask("PUT", "/b-1/copied", {
        query: { partNumber: "1", uploadId },
        headers: {
          "x-amz-copy-source": source,
          ...(range !== undefined && { "x-amz-copy-source-range": range }),
        },
      });
    const size = large.length + 17;
    assert.equal(codeOf(await copyPart("b-1/joined", `bytes=0-${size}`)), "InvalidRange");
    assert.equal(codeOf(await copyPart("b-1/joined", `bytes=${size}-${size}`)), "InvalidRange");
    assert.equal(codeOf(await copyPart("b-1/joined", "bytes=5-")), "InvalidArgument");
    assert.equal(codeOf(await copyPart("b-1/none")), "NoSuchKey");
    const made = await copyPart("b-1/joined", `bytes=${large.length}-${size - 1}`);
    const etag = textsOf(documentOf(made), "ETag")[0]!;
    assert.equal((await complete("copied", uploadId, part(1, etag))).status, 200);
    assert.ok((await ask("GET", "/b-1/copied")).body.equals(small));
  });

  test("of one empty part is an empty object", async () => {
    const uploadId = await begin("hollow");
    const etag = await putPart("hollow", uploadId, 1, "");
    assert.equal((await complete("hollow", uploadId, part(1, etag))).status, 200);
    const got = await ask("GET", "/b-1/hollow");
    assert.deepEqual([got.status, got.body.length], [200, 0]);
  });
});

suite("checksums of uploads", () => {
  const first = randomBytes(5 * MIB);
  const last = Buffer.from("the end");

  for (const [word, type] of [
    ["SHA256", "COMPOSITE"],
    ["CRC32", "COMPOSITE"],
    ["CRC32", "FULL_OBJECT"],
    ["CRC32C", "FULL_OBJECT"],
    ["CRC64NVME", "FULL_OBJECT"],
  ] as const) {
    test(`of ${word}, ${type}, are kept and shown`, async () => {
      const name = `x-amz-checksum-${word.toLowerCase()}`;
      const uploadId = await begin("summed", {
        "x-amz-checksum-algorithm": word,
        "x-amz-checksum-type": type,
      });
      const parts: string[] = [];
      for (const [i, body] of [first, last].entries()) {
        const query = { partNumber: String(i + 1), uploadId };
        const headers = word === "SHA256" ? { [name]: hash("sha256", body, "base64") } : {};
        const put = await ask("PUT", "/b-1/summed", { query, body, headers });
        const sum = put.headers[name];
        assert.ok(sum, "a part has its checksum");
        const element = `<Checksum${word}>${String(sum)}</Checksum${word}>`;
        parts.push(part(i + 1, put.headers.etag!, element));
      }
      const answer = await complete("summed", uploadId, parts.join(""));
      const value = textsOf(documentOf(answer), `Checksum${word}`)[0]!;
      assert.equal(value.endsWith("-2"), type === "COMPOSITE");
      assert.deepEqual(textsOf(documentOf(answer), "ChecksumType"), [type]);
      const headers = { "x-amz-checksum-mode": "ENABLED" };
      const head = await ask("HEAD", "/b-1/summed", { headers });
      assert.equal(head.headers[name], value);
      assert.equal(head.headers["x-amz-checksum-type"], type);
      if (type !== "FULL_OBJECT") return;
      // A single put of the same octets must have the same.
      const single = await ask("PUT", "/b-1/single", {
        body: Buffer.concat([first, last]),
        headers: { [name]: value },
      });
      assert.equal(single.status, 200, single.text);
    });
  }

  test("that do not fit complete nothing", async () => {
    const uploadId = await begin("unfit", { "x-amz-checksum-algorithm": "CRC32" });
    const etag = await putPart("unfit", uploadId, 1, "hello");
    const wrong = part(1, etag, "<ChecksumCRC32>AAAAAA==</ChecksumCRC32>");
    assert.equal((await complete("unfit", uploadId, wrong)).status, 400);
    const headers = { "x-amz-checksum-crc32": "AAAAAA==" };
    assert.equal((await complete("unfit", uploadId, part(1, etag), { headers })).status, 400);
    assert.equal((await ask("HEAD", "/b-1/unfit")).status, 404);
    for (const refused of [
      { "x-amz-checksum-algorithm": "SHA256", "x-amz-checksum-type": "FULL_OBJECT" },
      { "x-amz-checksum-algorithm": "CRC64NVME", "x-amz-checksum-type": "COMPOSITE" },
      { "x-amz-checksum-algorithm": "MD4" },
      { "x-amz-checksum-type": "COMPOSITE" },
    ] as Record<string, string>[]) {
      const answer = await ask("POST", "/b-1/unfit", { query: { uploads: "" }, headers: refused });
      assert.equal(codeOf(answer), "InvalidRequest", JSON.stringify(refused));
    }
  });

  test("of a part are of the algorithm that the upload was begun with", async () => {
    const crc32 = { "x-amz-checksum-crc32": "NhCmhg==" };
    const uploadId = await begin("other-sum", { "x-amz-checksum-algorithm": "SHA1" });
    const query = { partNumber: "1", uploadId };
    const refused = await ask("PUT", "/b-1/other-sum", { query, body: "hello", headers: crc32 });
    assert.equal(codeOf(refused), "InvalidRequest");
    const message =
      "Checksum Type mismatch occurred, expected checksum Type: sha1, actual checksum Type: crc32";
    assert.ok(refused.text.includes(`<Message>${message}</Message>`), refused.text);
    const sha1 = { "x-amz-checksum-sha1": hash("sha1", "hello", "base64") };
    const etag = await putPart("other-sum", uploadId, 1, "hello", sha1);
    await putPart("other-sum", uploadId, 2, "hello"); // One without any is given it.
    assert.equal((await complete("other-sum", uploadId, part(1, etag))).status, 200);
    const free = await begin("free-sum");
    await putPart("free-sum", free, 1, "hello", crc32);
    await putPart("free-sum", free, 2, "hello", sha1);
  });

  test("are completed as the type that the upload was begun with", async () => {
    const uploadId = await begin("typed", { "x-amz-checksum-algorithm": "CRC32" });
    const etag = await putPart("typed", uploadId, 1, "hello");
    const as = (type: string) =>
      complete("typed", uploadId, part(1, etag), { headers: { "x-amz-checksum-type": type } });
    assert.equal(codeOf(await as("FULL_OBJECT")), "InvalidRequest");
    assert.equal(codeOf(await as("HALF_OBJECT")), "InvalidRequest");
    assert.equal((await ask("HEAD", "/b-1/typed")).status, 404);
    assert.equal((await as("COMPOSITE")).status, 200);
    const free = await begin("untyped");
    const only = part(1, await putPart("untyped", free, 1, "hello"));
    const headers = { "x-amz-checksum-type": "FULL_OBJECT" };
    assert.equal((await complete("untyped", free, only, { headers })).status, 200);
  });
});
