/** Objects over the S3 door: what requests and answers say on the wire, beyond what clients show. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, suite, test } from "node:test";
import { startS3 } from "../support/s3.ts";
import { type Ask, ask as askAt, codeOf, documentOf, textsOf } from "./s3-wire.ts";

const server = await startS3({ args: ["--dns", "off", "--edge", "off", "--edge-tls", "off"] });
after(() => server[Symbol.asyncDispose]());

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(server.endpoint, method, { path, ...more });

async function put(key: string, body: string, headers: Record<string, string> = {}) {
  const answer = await ask("PUT", `/b-1/${key}`, { body, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

assert.equal((await ask("PUT", "/b-1")).status, 200);

suite("every answer", () => {
  test("has an id that errors repeat, and says who gave it", async () => {
    const { headers, text } = await ask("GET", "/b-1/none");
    const id = headers["x-amz-request-id"];
    assert.ok(id);
    assert.match(text, new RegExp(`<RequestId>${String(id)}</RequestId>`));
    assert.ok(headers["x-amz-id-2"]);
    assert.equal(headers.server, "Selvedge");
    assert.ok(headers.date);
    assert.equal(headers["content-type"], "application/xml");
  });

  test("to a failed HEAD is its status alone", async () => {
    const { status, body } = await ask("HEAD", "/b-1/none");
    assert.equal(status, 404);
    assert.equal(body.length, 0);
  });

  test("to what is not offered says so", async () => {
    const answer = await ask("GET", "/b-1/k", { query: { torrent: "" } });
    assert.deepEqual([answer.status, codeOf(answer)], [501, "NotImplemented"]);
    const lock = { "x-amz-object-lock-mode": "GOVERNANCE" };
    const locked = await ask("PUT", "/b-1/k", { body: "x", headers: lock });
    assert.deepEqual([locked.status, codeOf(locked)], [501, "NotImplemented"]);
    assert.match(locked.text, /Header 'x-amz-object-lock-mode' with value 'GOVERNANCE'/);
    assert.equal((await ask("HEAD", "/b-1/k")).status, 404);
  });
});

suite("metadata", () => {
  test("comes back as it went, with S3's own type for octets of no other", async () => {
    await put("meta", "hello", {
      "x-amz-meta-plain": "a b",
      "x-amz-meta-word": "=?UTF-8?Q?=C3=BC?=",
      "cache-control": "no-cache",
      expires: "Thu, 01 Dec 2044 16:00:00 GMT",
    });
    const { headers } = await ask("GET", "/b-1/meta");
    assert.equal(headers["x-amz-meta-plain"], "a b");
    assert.equal(headers["x-amz-meta-word"], "=?UTF-8?B?w7w=?=");
    assert.equal(headers["cache-control"], "no-cache");
    assert.equal(headers.expires, "Thu, 01 Dec 2044 16:00:00 GMT");
    assert.equal(headers["content-type"], "binary/octet-stream");
    assert.equal(headers["accept-ranges"], "bytes");
  });

  test("loses the framing of its way from its coding", async () => {
    await put("coded", "x", { "content-encoding": "aws-chunked,gzip" });
    assert.equal((await ask("GET", "/b-1/coded")).headers["content-encoding"], "gzip");
    await put("coded", "x", { "content-encoding": "aws-chunked" });
    assert.equal((await ask("GET", "/b-1/coded")).headers["content-encoding"], undefined);
  });

  test("of more than 8 KiB is too large", async () => {
    const headers = { "x-amz-meta-a": "x".repeat(9_000) };
    const answer = await ask("PUT", "/b-1/large-meta", { body: "x", headers });
    assert.deepEqual([answer.status, codeOf(answer)], [400, "MetadataTooLarge"]);
  });

  test("is overridden by the query of a signed get", async () => {
    await put("typed", "x", { "content-type": "text/plain" });
    const query = {
      "response-content-type": "text/html",
      "response-content-disposition": 'attachment; filename="é"',
      "response-expires": "never",
    };
    const { headers } = await ask("GET", "/b-1/typed", { query });
    assert.equal(headers["content-type"], "text/html");
    assert.equal(
      Buffer.from(headers["content-disposition"]!, "latin1").toString(),
      'attachment; filename="é"',
    );
    assert.equal(headers.expires, "never");
  });

  test("has the storage class where it is not the usual one", async () => {
    await put("rare", "x", { "x-amz-storage-class": "STANDARD_IA" });
    assert.equal((await ask("HEAD", "/b-1/rare")).headers["x-amz-storage-class"], "STANDARD_IA");
    const headers = { "x-amz-storage-class": "GLACIER" };
    const refused = await ask("PUT", "/b-1/rare", { body: "x", headers });
    assert.equal(codeOf(refused), "InvalidStorageClass");
  });

  test("has tags, which are counted, shown, set and taken away", async () => {
    await put("tagged", "x", { "x-amz-tagging": "a=1&b=two%20words" });
    assert.equal((await ask("HEAD", "/b-1/tagged")).headers["x-amz-tagging-count"], "2");
    const query = { tagging: "" };
    const shown = documentOf(await ask("GET", "/b-1/tagged", { query }));
    assert.deepEqual(textsOf(shown, "Value"), ["1", "two words"]);
    const body = "<Tagging><TagSet><Tag><Key>c</Key><Value>3</Value></Tag></TagSet></Tagging>";
    assert.equal((await ask("PUT", "/b-1/tagged", { query, body })).status, 200);
    assert.deepEqual(textsOf(documentOf(await ask("GET", "/b-1/tagged", { query })), "Key"), ["c"]);
    assert.equal((await ask("DELETE", "/b-1/tagged", { query })).status, 204);
    assert.deepEqual(textsOf(documentOf(await ask("GET", "/b-1/tagged", { query })), "Key"), []);
    assert.equal(codeOf(await ask("PUT", "/b-1/none", { query, body })), "NoSuchKey");
    const many = Array.from({ length: 11 }, (_, i) => `k${i}=v`).join("&");
    const refused = await ask("PUT", "/b-1/t", { body: "x", headers: { "x-amz-tagging": many } });
    assert.deepEqual([refused.status, codeOf(refused)], [400, "InvalidTag"]);
  });
});

suite("conditions", () => {
  const PAST = "Thu, 01 Jan 2015 00:00:00 GMT";
  const FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT";

  test("of reads follow RFC 9110: what fails first decides", async () => {
    const { headers } = await put("conditional", "x");
    const etag = headers.etag!;
    const modified = (await ask("HEAD", "/b-1/conditional")).headers["last-modified"]!;
    for (const [given, status] of [
      [{ "if-match": etag }, 200],
      [{ "if-match": etag.replaceAll('"', "") }, 200],
      [{ "if-match": `"other", ${etag}` }, 200],
      [{ "if-match": "*" }, 200],
      [{ "if-match": '"other"' }, 412],
      [{ "if-match": `W/${etag}` }, 412],
      [{ "if-none-match": etag }, 304],
      [{ "if-none-match": `W/${etag}` }, 304],
      [{ "if-none-match": "*" }, 304],
      [{ "if-none-match": '"other"' }, 200],
      [{ "if-modified-since": PAST }, 200],
      [{ "if-modified-since": modified }, 304],
      [{ "if-modified-since": FUTURE }, 200],
      [{ "if-modified-since": "soon" }, 200],
      [{ "if-unmodified-since": PAST }, 412],
      [{ "if-unmodified-since": modified }, 200],
      [{ "if-unmodified-since": FUTURE }, 200],
      [{ "if-match": etag, "if-unmodified-since": PAST }, 200],
      [{ "if-none-match": etag, "if-modified-since": PAST }, 304],
      [{ "if-none-match": '"other"', "if-modified-since": modified }, 200],
      [{ "if-match": '"other"', "if-none-match": etag }, 412],
    ] as const) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await ask(method, "/b-1/conditional", { headers: given });
        assert.equal(answer.status, status, `${method} ${JSON.stringify(given)}`);
        if (status === 304) assert.equal(answer.headers.etag, etag);
      }
    }
  });

  test("of writes: what is there must not be, what is missed is missing", async () => {
    const { headers } = await put("guarded", "first");
    const write = (given: Record<string, string>, key = "guarded") =>
      ask("PUT", `/b-1/${key}`, { body: "second", headers: given });
    for (const [given, status, code] of [
      [{ "if-none-match": "*" }, 412, "PreconditionFailed"],
      [{ "if-none-match": headers.etag! }, 412, "PreconditionFailed"],
      [{ "if-match": '"other"' }, 412, "PreconditionFailed"],
      [{ "if-unmodified-since": PAST }, 412, "PreconditionFailed"],
    ] as const) {
      const answer = await write(given);
      assert.deepEqual([answer.status, codeOf(answer)], [status, code], JSON.stringify(given));
    }
    assert.equal((await ask("GET", "/b-1/guarded")).text, "first");
    const missed = await write({ "if-match": '"any"' }, "not-there");
    assert.deepEqual([missed.status, codeOf(missed)], [404, "NoSuchKey"]);
    assert.equal((await write({ "if-match": headers.etag! })).status, 200);
    assert.equal((await write({ "if-none-match": "*" }, "brand-new")).status, 200);
  });

  test("of deletes: another object survives, and none at all is no fault", async () => {
    await put("doomed", "x");
    const refused = await ask("DELETE", "/b-1/doomed", { headers: { "if-match": '"other"' } });
    assert.equal(refused.status, 412);
    const size = { "x-amz-if-match-size": "2" };
    assert.equal((await ask("DELETE", "/b-1/doomed", { headers: size })).status, 412);
    assert.equal((await ask("HEAD", "/b-1/doomed")).status, 200);
    const etag = hash("md5", "x", "hex");
    const headers = { "if-match": `"${etag}"`, "x-amz-if-match-size": "1" };
    assert.equal((await ask("DELETE", "/b-1/doomed", { headers })).status, 204);
    assert.equal((await ask("DELETE", "/b-1/doomed", { headers })).status, 204);
  });
});

suite("ranges", () => {
  test("are cut to what there is, and always partial", async () => {
    await put("digits", "0123456789");
    for (const [range, text, content] of [
      ["bytes=0-0", "0", "bytes 0-0/10"],
      ["bytes=3-", "3456789", "bytes 3-9/10"],
      ["bytes=-3", "789", "bytes 7-9/10"],
      ["bytes=5-100", "56789", "bytes 5-9/10"],
      ["bytes=0-9", "0123456789", "bytes 0-9/10"],
      ["bytes=-100", "0123456789", "bytes 0-9/10"],
    ] as const) {
      const got = await ask("GET", "/b-1/digits", { headers: { range } });
      assert.deepEqual([got.status, got.text, got.headers["content-range"]], [206, text, content]);
      const head = await ask("HEAD", "/b-1/digits", { headers: { range } });
      assert.deepEqual(
        [head.status, head.headers["content-length"], head.headers["content-range"]],
        [206, String(text.length), content],
      );
    }
  });

  test("that nobody understands are left aside", async () => {
    for (const range of ["bytes=5-4", "bytes=0-1,3-4", "lines=1-2", "bytes=x-y"]) {
      const got = await ask("GET", "/b-1/digits", { headers: { range } });
      assert.deepEqual([got.status, got.text], [200, "0123456789"], range);
    }
  });

  test("outside of the object are told its size", async () => {
    await put("empty", "");
    for (const [key, range, size] of [
      ["digits", "bytes=10-", 10],
      ["digits", "bytes=-0", 10],
      ["empty", "bytes=0-", 0],
    ] as const) {
      const got = await ask("GET", `/b-1/${key}`, { headers: { range } });
      assert.deepEqual([got.status, codeOf(got)], [416, "InvalidRange"], range);
      assert.equal(got.headers["content-range"], `bytes */${size}`);
      assert.match(got.text, new RegExp(`<ActualObjectSize>${size}<`));
      assert.equal((await ask("HEAD", `/b-1/${key}`, { headers: { range } })).status, 416);
    }
  });

  test("hold only for the object that If-Range means", async () => {
    const etag = `"${hash("md5", "0123456789", "hex")}"`;
    const ranged = (given: string, range = "bytes=0-1") =>
      ask("GET", "/b-1/digits", { headers: { range, "if-range": given } });
    assert.equal((await ranged(etag)).text, "01");
    assert.equal((await ranged('"other"')).text, "0123456789");
    assert.equal((await ranged('"other"')).status, 200);
    assert.equal((await ranged('"other"', "bytes=50-")).status, 200);
    const modified = (await ask("HEAD", "/b-1/digits")).headers["last-modified"]!;
    assert.equal((await ranged(modified)).status, 206);
    assert.equal((await ranged("Thu, 01 Jan 2015 00:00:00 GMT")).status, 200);
    assert.equal((await ranged(etag, "bytes=0-")).headers["content-range"], "bytes 0-9/10");
    for (const [given, status, length] of [
      [etag, 206, "2"],
      ['"other"', 200, "10"],
    ] as const) {
      const headers = { range: "bytes=0-1", "if-range": given };
      const head = await ask("HEAD", "/b-1/digits", { headers });
      assert.deepEqual([head.status, head.headers["content-length"]], [status, length]);
    }
  });

  test("of an object of no parts: its only part is the whole", async () => {
    const got = await ask("GET", "/b-1/digits", { query: { partNumber: "1" } });
    assert.deepEqual([got.status, got.text], [206, "0123456789"]);
    const second = await ask("GET", "/b-1/digits", { query: { partNumber: "2" } });
    assert.deepEqual([second.status, codeOf(second)], [400, "InvalidPart"]);
    assert.equal((await ask("HEAD", "/b-1/digits", { query: { partNumber: "2" } })).status, 400);
  });
});

suite("checksums", () => {
  test("are shown where they are asked for, and never of a range", async () => {
    await put("summed", "hello", { "x-amz-checksum-crc32c": "mnG7TA==" });
    const mode = { "x-amz-checksum-mode": "ENABLED" };
    const whole = await ask("GET", "/b-1/summed", { headers: mode });
    assert.equal(whole.headers["x-amz-checksum-crc32c"], "mnG7TA==");
    assert.equal(whole.headers["x-amz-checksum-type"], "FULL_OBJECT");
    const ranged = await ask("GET", "/b-1/summed", { headers: { ...mode, range: "bytes=0-1" } });
    assert.equal(ranged.headers["x-amz-checksum-crc32c"], undefined);
    const plain = await ask("GET", "/b-1/summed");
    assert.equal(plain.headers["x-amz-checksum-crc32c"], undefined);
  });

  test("that do not fit refuse the body, each in its own words", async () => {
    for (const [headers, code] of [
      [{ "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }, "BadDigest"],
      [{ "content-md5": "short" }, "InvalidDigest"],
      [{ "x-amz-checksum-sha256": hash("sha256", "other", "base64") }, "BadDigest"],
      [{ "x-amz-checksum-crc32": "AAAAAA==" }, "BadDigest"],
    ] as const) {
      const answer = await ask("PUT", "/b-1/unfit", { body: "hello", headers });
      assert.deepEqual([answer.status, codeOf(answer)], [400, code], JSON.stringify(headers));
    }
    assert.equal((await ask("HEAD", "/b-1/unfit")).status, 404);
  });
});

suite("a customer's key", () => {
  const key = Buffer.alloc(32, 7);
  const name = "x-amz-server-side-encryption-customer";
  const headers = {
    [`${name}-algorithm`]: "AES256",
    [`${name}-key`]: key.toString("base64"),
    [`${name}-key-md5`]: hash("md5", key, "base64"),
  };

  test("opens its object, and nothing else does", async () => {
    const stored = await put("secret", "hidden text", headers);
    assert.equal(stored.headers[`${name}-key-md5`], headers[`${name}-key-md5`]);
    const got = await ask("GET", "/b-1/secret", { headers });
    assert.deepEqual([got.status, got.text], [200, "hidden text"]);
    const ranged = await ask("GET", "/b-1/secret", { headers: { ...headers, range: "bytes=7-" } });
    assert.equal(ranged.text, "text");
    assert.equal((await ask("GET", "/b-1/secret")).status, 400);
    assert.equal((await ask("HEAD", "/b-1/secret")).status, 400);
    assert.equal((await ask("HEAD", "/b-1/secret", { headers })).status, 200);
    const other = Buffer.alloc(32, 8);
    const wrong = {
      ...headers,
      [`${name}-key`]: other.toString("base64"),
      [`${name}-key-md5`]: hash("md5", other, "base64"),
    };
    assert.equal((await ask("GET", "/b-1/secret", { headers: wrong })).status, 400);
  });

  test("must be whole and be the one whose hash came with it", async () => {
    for (const changed of [
      { [`${name}-algorithm`]: "ROT13" },
      { [`${name}-key`]: "c2hvcnQ=" },
      { [`${name}-key-md5`]: "AAAAAAAAAAAAAAAAAAAAAA==" },
    ]) {
      const answer = await ask("PUT", "/b-1/secret-2", {
        body: "x",
        headers: { ...headers, ...changed },
      });
      assert.equal(answer.status, 400, answer.text);
    }
    const { [`${name}-key-md5`]: _, ...unproved } = headers;
    const answer = await ask("PUT", "/b-1/secret-2", { body: "x", headers: unproved });
    assert.deepEqual([answer.status, codeOf(answer)], [400, "InvalidArgument"]);
  });

  test("is taken off an object that is copied onto itself without one", async () => {
    await put("undressed", "hidden text", headers);
    const source = Object.entries(headers).map(([header, value]) => [
      header.replace("x-amz-", "x-amz-copy-source-"),
      value,
    ]);
    const copied = await ask("PUT", "/b-1/undressed", {
      headers: { "x-amz-copy-source": "b-1/undressed", ...Object.fromEntries(source) },
    });
    assert.equal(copied.status, 200, copied.text);
    assert.equal((await ask("GET", "/b-1/undressed")).text, "hidden text");
  });
});

suite("copies", () => {
  const copy = (from: string, to: string, headers: Record<string, string> = {}) =>
    ask("PUT", `/b-1/${to}`, { headers: { "x-amz-copy-source": from, ...headers } });

  test("are of a bucket whose owner is the one that the client expects", async () => {
    await put("owned", "x");
    const owner = textsOf(documentOf(await ask("GET", "/")), "ID")[0]!;
    const copied = (id: string) =>
      copy("b-1/owned", "owned-copy", { "x-amz-source-expected-bucket-owner": id });
    assert.equal((await copied("0".repeat(32))).status, 403);
    assert.equal((await copied(owner)).status, 200);
  });

  test("carry what the source carries, or what the request gives, or both", async () => {
    await put("source", "octets", {
      "content-type": "text/plain",
      "x-amz-meta-a": "1",
      "x-amz-meta-b": "2",
      "x-amz-tagging": "t=1",
    });
    const given = { "x-amz-meta-b": "3", "content-type": "text/html" };
    for (const [directive, type, a, b] of [
      ["COPY", "text/plain", "1", "2"],
      ["REPLACE", "text/html", undefined, "3"],
      ["MERGE", "text/html", "1", "3"],
    ] as const) {
      const headers = { ...given, "x-amz-metadata-directive": directive };
      const answer = await copy("/b-1/source", "copied", headers);
      assert.match(answer.text, /<ETag>&quot;[0-9a-f]{32}&quot;<\/ETag>/);
      const got = (await ask("GET", "/b-1/copied")).headers;
      assert.deepEqual(
        [got["content-type"], got["x-amz-meta-a"], got["x-amz-meta-b"]],
        [type, a, b],
        directive,
      );
      assert.equal(got["x-amz-tagging-count"], "1");
    }
  });

  test("of what is not there, or of nothing, are refused", async () => {
    assert.equal(codeOf(await copy("b-1/none", "x")), "NoSuchKey");
    assert.equal(codeOf(await copy("nowhere-1/none", "x")), "NoSuchBucket");
    assert.equal(codeOf(await copy("b-1", "x")), "InvalidArgument");
    assert.equal(codeOf(await copy("b-1/source?versionId=abc", "x")), "NoSuchVersion");
  });

  test("onto themselves must change something", async () => {
    assert.equal(codeOf(await copy("b-1/source", "source")), "InvalidRequest");
    const headers = { "x-amz-storage-class": "STANDARD_IA" };
    assert.equal((await copy("b-1/source", "source", headers)).status, 200);
    const got = await ask("GET", "/b-1/source");
    assert.equal(got.text, "octets");
    assert.equal(got.headers["x-amz-storage-class"], "STANDARD_IA");
  });

  test("whose source is another than was meant fail with 412, never with 304", async () => {
    const etag = `"${hash("md5", "octets", "hex")}"`;
    for (const headers of [
      { "x-amz-copy-source-if-match": '"other"' },
      { "x-amz-copy-source-if-none-match": etag },
      { "x-amz-copy-source-if-unmodified-since": "Thu, 01 Jan 2015 00:00:00 GMT" },
      { "cf-copy-destination-if-none-match": "*" },
      { "if-none-match": "*" },
    ]) {
      const answer = await copy("b-1/source", "copied", headers);
      assert.equal(answer.status, 412, JSON.stringify(headers));
    }
  });

  test("take keys that need escaping", async () => {
    await put("a%20%2B%C3%A9%3Fb", "odd");
    assert.equal((await copy("/b-1/a%20%2B%C3%A9%3Fb", "odd-copy")).status, 200);
    assert.equal((await ask("GET", "/b-1/odd-copy")).text, "odd");
  });
});
