import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { EMPTY_PAYLOAD_HASH, sign, signingKey } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import { type PayloadForm, readPayload } from "./index.ts";

const SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const UNSIGNED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
const TIME = "20130524T000000Z";
const SCOPE = "20130524/us-east-1/s3/aws4_request";
const KEY = signingKey("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3");
const SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
const signing = { key: KEY, time: TIME, scope: SCOPE, seed: SEED };

const form = (sha256: string, headers: Record<string, string> = {}): PayloadForm => ({
  sha256,
  headers,
  hoisted: [],
  signing,
});

const isFault = (code: string) => (error: unknown) => {
  assert(error instanceof S3Fault, String(error));
  assert.equal(error.code, code, error.message);
  return true;
};

/** The octets in pieces of this many. */
async function* pieces(octets: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

async function decoded(octets: Buffer | string, how: PayloadForm, size = 1 << 16) {
  const payload = readPayload(pieces(Buffer.from(octets), size), how);
  const parts: Uint8Array[] = [];
  for await (const piece of payload.body) parts.push(Buffer.from(piece));
  return { ...payload, octets: Buffer.concat(parts) };
}

const sha256 = (octets: Uint8Array | string) => createHash("sha256").update(octets).digest("hex");

/** Chunks as a client signs them, and the signature of the last. */
function signedChunks(
  chunks: readonly Uint8Array[],
  seed = SEED,
): { octets: Buffer; last: string } {
  let last = seed;
  const framed = [...chunks, Buffer.alloc(0)].map((chunk) => {
    const covered = `${EMPTY_PAYLOAD_HASH}\n${sha256(chunk)}`;
    last = sign(KEY, `AWS4-HMAC-SHA256-PAYLOAD\n${TIME}\n${SCOPE}\n${last}\n${covered}`);
    const line = `${chunk.length.toString(16)};chunk-signature=${last}\r\n`;
    return Buffer.concat([Buffer.from(line), chunk, Buffer.from(chunk.length > 0 ? "\r\n" : "")]);
  });
  return { octets: Buffer.concat(framed), last };
}

suite("a plain body", () => {
  test("is held against its SHA-256, without being kept for it", () => {
    const hash = sha256("foo").toUpperCase();
    const { checksums, length } = readPayload(pieces(Buffer.from("foo"), 1), {
      ...form(hash, { "content-length": "3" }),
    });
    assert.equal(length, 3);
    const value = hash.toLowerCase();
    assert.deepEqual(checksums, [{ algorithm: "sha256", value, isKept: false }]);
  });

  test("is taken as it comes when its hash was not signed", async () => {
    const { octets, checksums } = await decoded(
      "foo",
      form("UNSIGNED-PAYLOAD", { "content-length": "3" }),
    );
    assert.equal(octets.toString(), "foo");
    assert.deepEqual(checksums, []);
  });

  test("needs a length, unless HTTP tells its end", () => {
    const read = (headers: Record<string, string>) =>
      readPayload(pieces(Buffer.alloc(0), 1), form("UNSIGNED-PAYLOAD", headers));
    assert.throws(() => read({}), isFault("MissingContentLength"));
    assert.equal(read({ "transfer-encoding": "chunked" }).length, null);
  });

  test("is held against the checksum of a header, and Content-MD5", () => {
    const headers = {
      "content-length": "3",
      "x-amz-checksum-crc32": "jHNlIQ==",
      "x-amz-checksum-type": "FULL_OBJECT",
      "content-md5": "rL0Y20zC+Fzt72VPzMSk2A==",
    };
    const { checksums } = readPayload(
      pieces(Buffer.from("foo"), 1),
      form("UNSIGNED-PAYLOAD", headers),
    );
    assert.deepEqual(checksums, [
      { algorithm: "crc32", value: "8c736521" },
      { algorithm: "md5", value: "acbd18db4cc2f85cedef654fccc4a4d8", isKept: false },
    ]);
  });

  for (const [headers, code] of [
    [{ "content-md5": "bad" }, "InvalidDigest"],
    [{ "content-md5": "" }, "InvalidDigest"],
    [{ "x-amz-checksum-crc32": "bad" }, "BadDigest"],
    [{ "x-amz-checksum-sha256": "jHNlIQ==" }, "BadDigest"],
    [{ "x-amz-checksum-xxhash64": "AAAAAAAAAAA=" }, "NotImplemented"],
    [{ "x-amz-checksum-crc32": "jHNlIQ==", "x-amz-checksum-crc32c": "jHNlIQ==" }, "InvalidRequest"],
    [{ "x-amz-trailer": "x-amz-checksum-crc32" }, "InvalidRequest"],
  ] as const) {
    test(`with ${JSON.stringify(headers)} is ${code}`, () => {
      const given = { "content-length": "3", ...headers };
      const read = () => readPayload(pieces(Buffer.alloc(3), 1), form("UNSIGNED-PAYLOAD", given));
      assert.throws(read, isFault(code));
    });
  }

  for (const [word, code] of [
    ["STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "NotImplemented"],
    ["STREAMING-OTHER", "InvalidArgument"],
    ["abc", "InvalidArgument"],
    ["", "InvalidArgument"],
  ] as const) {
    test(`whose hash is "${word}" is ${code}`, () => {
      const given = form(word, { "content-length": "0" });
      assert.throws(() => readPayload(pieces(Buffer.alloc(0), 1), given), isFault(code));
    });
  }
});

suite("the checksum in a presigned URL", () => {
  const read = (value: string, length: string) =>
    readPayload(pieces(Buffer.alloc(0), 1), {
      ...form("UNSIGNED-PAYLOAD", { "content-length": length }),
      hoisted: [
        ["x-amz-sdk-checksum-algorithm", "CRC32"],
        ["x-amz-checksum-crc32", value],
      ],
    }).checksums;

  test("of nothing says nothing of a body", () => {
    assert.deepEqual(read("AAAAAA==", "3"), []);
    assert.deepEqual(read("AAAAAA==", "0"), [{ algorithm: "crc32", value: "00000000" }]);
  });

  test("of anything else must fit", () => {
    assert.deepEqual(read("jHNlIQ==", "3"), [{ algorithm: "crc32", value: "8c736521" }]);
  });
});

suite("signed chunks", () => {
  /** "Signature Calculations for the Authorization Header: Transferring Payload in Multiple Chunks". */
  test("of the published example are those of their key, wherever they are cut", async () => {
    const data = Buffer.alloc(66_560, "a");
    const { octets, last } = signedChunks([data.subarray(0, 65_536), data.subarray(65_536)]);
    assert.equal(last, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9");
    const whole = Buffer.concat([octets, Buffer.from("\r\n")]);
    for (const size of [1, 7, 65_536, 1 << 20]) {
      const how = form(SIGNED, { "x-amz-decoded-content-length": "66560" });
      const { octets: got, length } = await decoded(whole, how, size);
      assert.equal(length, 66_560);
      assert(got.equals(data), `pieces of ${size}`);
    }
  });

  test("of a body that is all there are read at once, and fail at once", () => {
    const { octets } = signedChunks([Buffer.from("hello"), Buffer.from("world")]);
    const how = form(SIGNED, { "x-amz-decoded-content-length": "10" });
    assert.deepEqual(readPayload(octets, how).body, Buffer.from("helloworld"));
    const damaged = Buffer.from(octets.toString("latin1").replace("hello", "hallo"), "latin1");
    assert.throws(() => readPayload(damaged, how), isFault("SignatureDoesNotMatch"));
    const cut = octets.subarray(0, -1);
    assert.throws(() => readPayload(cut, how), isFault("IncompleteBody"));
  });

  test("of which one octet or signature is another fail", async () => {
    const { octets } = signedChunks([Buffer.from("hello"), Buffer.from("world")]);
    const whole = Buffer.concat([octets, Buffer.from("\r\n")]);
    const how = form(SIGNED, { "x-amz-decoded-content-length": "10" });
    assert.equal((await decoded(whole, how)).octets.toString(), "helloworld");
    for (const [old, other] of [
      ["hello", "hallo"],
      ["world", "World"],
      [/signature=./, "signature=x"],
      [/;chunk-signature=[^\r]*/, ""],
    ] as const) {
      const damaged = whole.toString("latin1").replace(old, other);
      await assert.rejects(decoded(damaged, how), isFault("SignatureDoesNotMatch"));
    }
  });

  /** "Signature calculations for trailing headers". */
  test("and the trailer of the published example are those of their key", async () => {
    const seed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
    const data = Buffer.alloc(66_560, "a");
    const chunks = [data.subarray(0, 65_536), data.subarray(65_536)];
    const { octets, last } = signedChunks(chunks, seed);
    assert.equal(last, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992");
    const end = [
      "x-amz-checksum-crc32c:sOO8/Q==",
      "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435",
    ];
    const headers = {
      "x-amz-decoded-content-length": "66560",
      "x-amz-trailer": "x-amz-checksum-crc32c",
    };
    const how = { ...form(`${SIGNED}-TRAILER`, headers), signing: { ...signing, seed } };
    const whole = Buffer.concat([octets, Buffer.from(`${end.join("\r\n")}\r\n\r\n`)]);
    const { octets: got, checksums } = await decoded(whole, how);
    assert(got.equals(data));
    assert.equal((checksums[0]!.value as () => string)(), "b0e3bcfd");
  });

  test("may end in a signed trailer", async () => {
    const { octets, last } = signedChunks([Buffer.from("foo")]);
    const line = "x-amz-checksum-crc32:jHNlIQ==";
    const toSign = `AWS4-HMAC-SHA256-TRAILER\n${TIME}\n${SCOPE}\n${last}\n${sha256(`${line}\n`)}`;
    const signature = sign(KEY, toSign);
    const how = form(`${SIGNED}-TRAILER`, {
      "x-amz-decoded-content-length": "3",
      "x-amz-trailer": "x-amz-checksum-crc32",
    });
    const end = (text: string) => Buffer.concat([octets, Buffer.from(text)]);
    const right = `${line}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`;
    const { checksums } = await decoded(end(right), how);
    assert.equal((checksums[0]!.value as () => string)(), "8c736521");
    for (const wrong of [
      right.replace("jHNlIQ", "kHNlIQ"),
      right.replace("crc32", "crc33"),
      `${line}\r\n\r\n`,
      "\r\n",
    ]) {
      await assert.rejects(decoded(end(wrong), how), isFault("SignatureDoesNotMatch"), wrong);
    }
  });

  test("need a signed request", () => {
    const how = { ...form(SIGNED, { "x-amz-decoded-content-length": "0" }), signing: null };
    assert.throws(() => readPayload(pieces(Buffer.alloc(0), 1), how), isFault("InvalidRequest"));
  });
});

suite("unsigned chunks", () => {
  const how = form(UNSIGNED, {
    "x-amz-decoded-content-length": "3",
    "x-amz-trailer": "x-amz-checksum-crc32",
  });
  const CHECKSUM = "x-amz-checksum-crc32:jHNlIQ==";

  /** As boto3, the JavaScript SDK and minio-go put it on the wire. */
  for (const [who, octets] of [
    ["boto3", `3\r\nfoo\r\n0\r\n${CHECKSUM}\r\n\r\n\r\n`],
    ["the JavaScript SDK", `3\r\nfoo\r\n0\r\n${CHECKSUM}\r\n\r\n`],
    ["minio-go", `3\r\nfoo\r\n0\r\n${CHECKSUM}\n\r\n\r\n`],
    ["a client with several chunks", `1\r\nf\r\n02;a=b\r\noo\r\n000\r\n${CHECKSUM}\r\n\r\n`],
    ["a client that forgets the last line", `3\r\nfoo\r\n0\r\n${CHECKSUM}\r\n`],
    ["a client that forgets the last line's end", `3\r\nfoo\r\n0\r\n${CHECKSUM}`],
  ] as const) {
    test(`of ${who} are read, wherever they are cut`, async () => {
      for (let size = 1; size <= octets.length; size++) {
        const { octets: got, checksums } = await decoded(octets, how, size);
        assert.equal(got.toString(), "foo");
        assert.equal(checksums[0]!.algorithm, "crc32");
        assert.equal((checksums[0]!.value as () => string)(), "8c736521");
      }
    });
  }

  for (const [what, octets, code] of [
    ["that stop in the data", "3\r\nfo", "IncompleteBody"],
    ["that stop before the last", "3\r\nfoo\r\n", "IncompleteBody"],
    ["that never begin", "", "IncompleteBody"],
    ["with less data than announced", `2\r\nfo\r\n0\r\n${CHECKSUM}\r\n\r\n`, "IncompleteBody"],
    ["with more data than announced", `4\r\nfooo\r\n0\r\n${CHECKSUM}\r\n\r\n`, "IncompleteBody"],
    ["with a size that lies", `3\r\nfooo\r\n0\r\n${CHECKSUM}\r\n\r\n`, "InvalidRequest"],
    ["without a size", `foo\r\n0\r\n${CHECKSUM}\r\n\r\n`, "InvalidRequest"],
    ["with a negative size", "-3\r\nfoo\r\n0\r\n\r\n", "InvalidRequest"],
    ["with a huge size", `${"f".repeat(400)}\r\n`, "InvalidRequest"],
    ["without the trailer announced", "3\r\nfoo\r\n0\r\n\r\n", "InvalidRequest"],
    ["with a trailer without a name", "3\r\nfoo\r\n0\r\n:x\r\n\r\n", "InvalidRequest"],
    [
      "with a checksum of the wrong length",
      "3\r\nfoo\r\n0\r\nx-amz-checksum-crc32:AA==\r\n\r\n",
      "BadDigest",
    ],
    ["with a line that does not end", `3\r\nfoo\r\n0\r\n${"a".repeat(5_000)}`, "InvalidRequest"],
    [
      "that go on for long",
      `3\r\nfoo\r\n0\r\n${CHECKSUM}\r\n\r\n${"x".repeat(2_000)}`,
      "InvalidRequest",
    ],
  ] as const) {
    test(`${what} are ${code}`, async () => {
      for (const size of [1, 5, 1 << 16]) {
        await assert.rejects(decoded(octets, how, size), isFault(code));
      }
    });
  }

  test("need to say how much data there is", () => {
    for (const length of [undefined, "", "x", "-1"]) {
      const headers = length === undefined ? {} : { "x-amz-decoded-content-length": length };
      const read = () => readPayload(pieces(Buffer.alloc(0), 1), form(UNSIGNED, headers));
      assert.throws(read, isFault("MissingContentLength"));
    }
  });

  test("give on what they have before their end has come", async () => {
    const begun = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("3\r\nfo");
      await begun.promise;
      yield Buffer.from(`o\r\n0\r\n${CHECKSUM}\r\n\r\n`);
    }
    let text = "";
    for await (const piece of readPayload(slow(), how).body) {
      text += Buffer.from(piece).toString();
      begun.resolve();
    }
    assert.equal(text, "foo");
  });
});

test("a trailer that the framing has no place for is refused, not passed over", () => {
  const headers = {
    "x-amz-decoded-content-length": "3",
    "x-amz-trailer": "x-amz-checksum-crc32",
  };
  assert.throws(
    () => readPayload(pieces(Buffer.alloc(0), 1), form(SIGNED, headers)),
    isFault("InvalidRequest"),
  );
});
