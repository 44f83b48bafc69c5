/** Bodies in every framing that S3 clients use, whole and damaged: what is damaged stores nothing. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { after, suite, test } from "node:test";
import { text as readText } from "node:stream/consumers";
import { EMPTY_PAYLOAD_HASH, sign, signingKey, signRequest } from "../../src/kit/sigv4.ts";
import { connectStore } from "selvedge/store";
import { KEY } from "../support/server.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
await call(server, "POST", `/accounts/${account}/storage/buckets`, { body: { name: "bodies" } });
const store = connectStore({ url: server.origin, key: KEY }).bucket("bodies");
const { host } = new URL(server.endpoint);

const SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const UNSIGNED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
const CRC32 = "x-amz-checksum-crc32:NhCmhg==";

const sha256 = (octets: Uint8Array | string) => createHash("sha256").update(octets).digest("hex");

interface Wish {
  readonly key: string;
  readonly payloadHash: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the signed headers; from which chunks may be signed. */
  readonly body: (headers: Readonly<Record<string, string>>) => Buffer | string;
}

/** Sends a PUT, in chunks of HTTP unless a length is among the headers. */
async function put({ key, payloadHash, headers: more = {}, body }: Wish) {
  const path = `/bodies/${key}`;
  const headers = signRequest(
    { method: "PUT", path, query: {}, headers: { host, ...more }, payloadHash },
    {
      key: { id: ACCESS_KEY_ID, secret: SECRET_ACCESS_KEY },
      region: REGION,
      service: "s3",
      now: Date.now(),
    },
  );
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const sending = request(server.endpoint + path, { method: "PUT", headers }, (response) => {
    void readText(response).then((text) => resolve({ status: response.statusCode!, text }), reject);
  });
  sending.on("error", reject);
  sending.end(body(headers));
  return promise;
}

/** Chunks of a body, each signed after the one before. */
function signedChunks(chunks: readonly string[]) {
  return (headers: Readonly<Record<string, string>>) => {
    const time = headers["x-amz-date"]!;
    const date = time.slice(0, 8);
    const scope = `${date}/${REGION}/s3/aws4_request`;
    const key = signingKey(SECRET_ACCESS_KEY, date, REGION, "s3");
    let last = headers["authorization"]!.split("Signature=")[1]!;
    const framed = [...chunks, ""].map((chunk) => {
      const covered = `${EMPTY_PAYLOAD_HASH}\n${sha256(chunk)}`;
      last = sign(key, `AWS4-HMAC-SHA256-PAYLOAD\n${time}\n${scope}\n${last}\n${covered}`);
      return `${chunk.length.toString(16)};chunk-signature=${last}\r\n${chunk}\r\n`;
    });
    return framed.join("");
  };
}

const length = (octets: number) => ({ "x-amz-decoded-content-length": String(octets) });
const trailer = { ...length(5), "x-amz-trailer": "x-amz-checksum-crc32" };

suite("a body that is as it says", () => {
  const chunk = "x".repeat(100_000);
  for (const [what, wish, octets] of [
    [
      "plain",
      { payloadHash: sha256("hello"), headers: { "content-length": "5" }, body: () => "hello" },
      5,
    ],
    [
      "unsigned",
      { payloadHash: "UNSIGNED-PAYLOAD", headers: { "content-length": "5" }, body: () => "hello" },
      5,
    ],
    [
      "empty",
      { payloadHash: EMPTY_PAYLOAD_HASH, headers: { "content-length": "0" }, body: () => "" },
      0,
    ],
    [
      "in signed chunks",
      { payloadHash: SIGNED, headers: length(200_000), body: signedChunks([chunk, chunk]) },
      200_000,
    ],
    [
      "in no chunks but the last",
      { payloadHash: SIGNED, headers: length(0), body: signedChunks([]) },
      0,
    ],
    [
      "with a trailer",
      {
        payloadHash: UNSIGNED,
        headers: trailer,
        body: () => `5\r\nhello\r\n0\r\n${CRC32}\r\n\r\n`,
      },
      5,
    ],
  ] as const) {
    test(`${what} is stored`, async () => {
      const key = what.replaceAll(" ", "-");
      const { status, text } = await put({ key, ...wish });
      assert.equal(status, 200, text);
      assert.equal((await store.head(key))?.size, octets);
    });
  }
});

suite("a body that is not as it says stores nothing:", () => {
  const plain = { "content-length": "5" };
  const hello = () => "hello";
  const damaged =
    (old: RegExp | string, other: string) => (headers: Readonly<Record<string, string>>) =>
      signedChunks(["hello", "world"])(headers).replace(old, other);
  for (const [what, wish, code] of [
    [
      "another hash",
      { payloadHash: sha256("other"), headers: plain, body: hello },
      "XAmzContentSHA256Mismatch",
    ],
    [
      "another MD5",
      {
        payloadHash: sha256("hello"),
        headers: { ...plain, "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" },
        body: hello,
      },
      "BadDigest",
    ],
    [
      "no MD5",
      { payloadHash: sha256("hello"), headers: { ...plain, "content-md5": "x" }, body: hello },
      "InvalidDigest",
    ],
    [
      "another checksum",
      {
        payloadHash: sha256("hello"),
        headers: { ...plain, "x-amz-checksum-crc32c": "AAAAAA==" },
        body: hello,
      },
      "BadDigest",
    ],
    [
      "another trailer",
      {
        payloadHash: UNSIGNED,
        headers: trailer,
        body: () => "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n",
      },
      "BadDigest",
    ],
    [
      "no trailer",
      { payloadHash: UNSIGNED, headers: trailer, body: () => "5\r\nhello\r\n0\r\n\r\n" },
      "InvalidRequest",
    ],
    [
      "no last chunk",
      { payloadHash: UNSIGNED, headers: trailer, body: () => "5\r\nhello\r\n" },
      "IncompleteBody",
    ],
    ["no frame", { payloadHash: UNSIGNED, headers: trailer, body: hello }, "IncompleteBody"],
    [
      "less than announced",
      {
        payloadHash: UNSIGNED,
        headers: { ...trailer, ...length(6) },
        body: () => `5\r\nhello\r\n0\r\n${CRC32}\r\n\r\n`,
      },
      "IncompleteBody",
    ],
    [
      "no length",
      { payloadHash: UNSIGNED, headers: { "x-amz-trailer": "x-amz-checksum-crc32" }, body: hello },
      "MissingContentLength",
    ],
    [
      "an octet changed",
      { payloadHash: SIGNED, headers: length(10), body: damaged("world", "World") },
      "SignatureDoesNotMatch",
    ],
    [
      "a signature changed",
      { payloadHash: SIGNED, headers: length(10), body: damaged(/signature=\w/, "signature=z") },
      "SignatureDoesNotMatch",
    ],
    [
      "a chunk left out",
      { payloadHash: SIGNED, headers: length(5), body: damaged(/^.*\r\nhello\r\n/, "") },
      "SignatureDoesNotMatch",
    ],
    [
      "a word that is none",
      { payloadHash: "STREAMING-OTHER", headers: plain, body: hello },
      "InvalidArgument",
    ],
    [
      "version 4A",
      { payloadHash: "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", headers: plain, body: hello },
      "NotImplemented",
    ],
  ] as const) {
    test(what, async () => {
      const { status, text } = await put({ key: "never", ...wish });
      assert.match(text, new RegExp(`<Code>${code}</Code>`), `${status} ${text}`);
      assert.equal(await store.head("never"), null);
    });
  }
});
