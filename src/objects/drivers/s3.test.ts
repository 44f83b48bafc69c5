import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, suite, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "#kit/random.ts";
import { FaultyProxy, type Treatment } from "../../../test/support/faulty-proxy.ts";
import { S3_KEY, S3Server } from "../../../test/support/s3-server.ts";
import type { BlobDriver } from "../driver.ts";
import {
  blobDriverContract,
  bodyOf,
  failing,
  gather,
  idsOf,
  readBlob,
} from "../driver.contract.ts";
import { ObjectFault } from "../fault.ts";
import type { Body } from "../model.ts";
import { parseS3Url } from "./s3-location.ts";
import { openS3 } from "./s3.ts";

const MIB = 1024 * 1024;

const server = await S3Server.start();
after(() => server[Symbol.asyncDispose]());

function optionsOf(prefix: string, endpoint = server.endpoint) {
  return {
    location: parseS3Url(`s3://${server.bucket}/${prefix}?endpoint=${endpoint}`),
    key: S3_KEY,
    now: Date.now,
    sleep: async () => {},
    random: () => 0,
    idleMs: 10_000,
  };
}

blobDriverContract("s3", () => openS3(optionsOf("some/prefix")), {
  readsDeleted: false,
  keepsInMemory: false,
});

/** A driver that reaches the server through a proxy, and the waits that it made. */
async function troubled(t: TestContext, idleMs = 10_000) {
  const proxy = await FaultyProxy.start(server.endpoint);
  t.after(() => proxy[Symbol.asyncDispose]());
  const waits: number[] = [];
  const driver = await openS3({
    ...optionsOf(randomId(), proxy.endpoint),
    idleMs,
    sleep: async (ms) => void waits.push(ms),
  });
  t.after(() => driver[Symbol.asyncDispose]());
  proxy.asked.length = 0;
  return { proxy, driver, waits };
}

async function keep(driver: BlobDriver, bytes: Uint8Array): Promise<string> {
  const id = randomId();
  await driver.put(id, bodyOf(bytes));
  return id;
}

const isUnavailable = (error: unknown) => {
  assert.ok(error instanceof ObjectFault);
  return error.kind === "unavailable";
};

const answering =
  (status: number, code: string): Treatment =>
  ({ response }) =>
    void response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
const cutOff: Treatment = ({ response }) => void response.destroy();

test("a bucket is told apart by its prefix", async () => {
  await using one = await openS3(optionsOf("one"));
  await using inner = await openS3(optionsOf("one/inner"));
  await using all = await openS3(optionsOf(""));
  const [a, b, c] = [
    await keep(one, randomBytes(1)),
    await keep(inner, randomBytes(2)),
    await keep(all, randomBytes(3)),
  ];
  assert.deepEqual([...(await idsOf(one))], [a]);
  assert.deepEqual([...(await idsOf(inner))], [b]);
  assert.deepEqual([...(await idsOf(all))], [c]);
  assert.equal(await one.open(b), null);
});

suite("a start tells the operator when", () => {
  test("the secret is wrong", async () => {
    const options = { ...optionsOf(""), key: { ...S3_KEY, secret: "not-this" } };
    const error = await openS3(options).catch((error: Error) => error);
    assert.ok(error instanceof Error);
    assert.match(error.message, /^Cannot use the bucket blobs at http:.*403 SignatureDoesNotMatch/);
    assert.doesNotMatch(error.message, /not-this/);
  });

  test("there is no such bucket", async () => {
    const location = parseS3Url(`s3://none?endpoint=${server.endpoint}`);
    await assert.rejects(openS3({ ...optionsOf(""), location }), { message: /NoSuchBucket/ });
  });

  test("nobody listens", async () => {
    const waits: number[] = [];
    const options = {
      ...optionsOf("", "http://localhost:1"),
      sleep: async (ms: number) => void waits.push(ms),
    };
    await assert.rejects(openS3(options), { message: /localhost:1 .*ECONNREFUSED/ });
    assert.deepEqual(waits, [100, 200, 400, 800]);
  });

  test("it is not S3 that answers", async () => {
    await using proxy = await FaultyProxy.start(server.endpoint);
    proxy.treat(/GET/, ({ response }) => void response.end("<html><p>Hello</html>"));
    await assert.rejects(openS3(optionsOf("", proxy.endpoint)), { message: /not XML/ });
  });
});

test("every body is sent with its hash and its length", async (t) => {
  const { proxy, driver } = await troubled(t);
  let bodies = 0;
  const check: Treatment = async ({ request, pass }) => {
    const hash = createHash("sha256");
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      length += chunk.length;
    });
    await pass();
    assert.equal(request.headers["x-amz-content-sha256"], hash.digest("hex"));
    assert.equal(request.headers["content-length"], String(length));
    bodies++;
  };
  proxy.treat(/./, check, Number.POSITIVE_INFINITY);
  for (const size of [0, 1_000, 300_000, 17 * MIB]) await keep(driver, randomBytes(size));
  assert.equal(bodies, 3 + 5); // The last begins, sends three parts and is completed.
});

test("what may pass is tried again, with longer waits", async (t) => {
  const { proxy, driver, waits } = await troubled(t);
  const bytes = randomBytes(1_000);
  proxy.treat(/^PUT/, answering(503, "SlowDown"));
  proxy.treat(/^PUT/, cutOff);
  proxy.treat(/^PUT/, answering(400, "RequestTimeout"));
  const id = await keep(driver, bytes);
  assert.deepEqual(waits, [100, 200, 400]);
  proxy.treat(/^HEAD/, answering(500, ""));
  proxy.treat(/^GET/, cutOff);
  assert.deepEqual(await readBlob(driver, id), bytes);
  proxy.treat(/^GET/, answering(502, ""));
  assert.deepEqual([...(await idsOf(driver))], [id]);
  proxy.treat(/^DELETE/, answering(504, ""));
  await driver.delete([id]);
  assert.equal(await driver.open(id), null);
});

test("what is refused is not tried again", async (t) => {
  const { proxy, driver, waits } = await troubled(t);
  const id = await keep(driver, randomBytes(10));
  for (const [method, call] of [
    ["PUT", () => keep(driver, randomBytes(10))],
    ["HEAD", () => driver.open(id)],
    ["GET", () => idsOf(driver)],
    ["DELETE", () => driver.delete([id])],
  ] as const) {
    proxy.treat(new RegExp(`^${method}`), answering(403, "AccessDenied"));
    await assert.rejects(call, isUnavailable);
  }
  const blob = (await driver.open(id))!;
  proxy.treat(/^GET/, answering(404, "NoSuchKey"));
  await assert.rejects(gather(blob.read({ offset: 0, length: 10 })), isUnavailable);
  assert.deepEqual(waits, []);
});

test("an outage is a fault, and passes", async () => {
  await using other = await S3Server.start();
  await using driver = await openS3(optionsOf("outage", other.endpoint));
  const id = await keep(driver, randomBytes(100));
  await other.pause();
  await assert.rejects(keep(driver, randomBytes(100)), isUnavailable);
  await assert.rejects(driver.open(id), isUnavailable);
  await assert.rejects(idsOf(driver), isUnavailable);
  await assert.rejects(driver.delete([id]), isUnavailable);
  await other.resume();
  assert.equal((await readBlob(driver, id)).length, 100);
  await keep(driver, randomBytes(100));
});

test("a read that breaks off goes on where it was", async (t) => {
  const { proxy, driver } = await troubled(t);
  const bytes = randomBytes(3 * MIB);
  const id = await keep(driver, bytes);
  proxy.treat(
    /^GET/,
    async ({ ask, response }) => {
      const answer = await ask();
      response.writeHead(answer.statusCode!, answer.headers);
      let passed = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        await new Promise((resolve) => response.write(chunk, resolve));
        passed += chunk.length;
        if (passed > 500_000) break;
      }
      response.destroy();
    },
    4,
  );
  assert.ok(
    (await readBlob(driver, id, { offset: 7, length: 3 * MIB - 7 })).equals(bytes.subarray(7)),
  );
  assert.ok(proxy.asked.filter((line) => line.startsWith("GET")).length > 4);
});

test("a read that always breaks off is a fault", async (t) => {
  const { proxy, driver } = await troubled(t);
  const id = await keep(driver, randomBytes(1_000));
  const begin: Treatment = ({ response }) => {
    response.writeHead(206, { "content-range": "bytes 0-999/1000", "content-length": "1000" });
    response.flushHeaders();
    setImmediate(() => response.destroy());
  };
  proxy.treat(/^GET/, begin, 100);
  await assert.rejects(readBlob(driver, id), isUnavailable);
});

test("a server that ignores ranges is not believed", async (t) => {
  const { proxy, driver } = await troubled(t);
  const bytes = randomBytes(1_000);
  const id = await keep(driver, bytes);
  const whole: Treatment = ({ response }) => void response.end(bytes);
  proxy.treat(/^GET/, whole, 2);
  assert.deepEqual(await readBlob(driver, id, { offset: 0, length: 10 }), bytes.subarray(0, 10));
  await assert.rejects(readBlob(driver, id, { offset: 1, length: 10 }), isUnavailable);
});

suite("an upload in parts", () => {
  const bytes = randomBytes(20 * MIB);
  const chunks = Array.from({ length: 20 }, (_, i) => bytes.subarray(i * MIB, (i + 1) * MIB));

  test("sends each part as it fills, and again when it is lost", async (t) => {
    const { proxy, driver } = await troubled(t);
    proxy.treat(/^POST .*\?uploads/, answering(500, "InternalError"));
    proxy.treat(/^PUT .*partNumber=2/, cutOff);
    const id = randomId();
    await driver.put(id, bodyOf(...chunks));
    assert.ok((await readBlob(driver, id)).equals(bytes));
    const parts = proxy.asked.filter((line) => line.startsWith("PUT"));
    assert.deepEqual(
      parts.map((line) => /partNumber=(\d+)/.exec(line)?.[1]),
      ["1", "2", "2", "3"],
    );
  });

  test("is complete when only the answer was lost", async (t) => {
    const { proxy, driver } = await troubled(t);
    proxy.treat(/^POST .*uploadId=/, async ({ ask, response }) => {
      await ask();
      response.destroy();
    });
    // s3rver words it otherwise; this is S3's answer to a second completion.
    proxy.treat(/^POST .*uploadId=/, answering(404, "NoSuchUpload"));
    const id = randomId();
    await driver.put(id, bodyOf(...chunks));
    assert.ok((await readBlob(driver, id)).equals(bytes));
  });

  test("is completed again when the answer tells of an error after its start", async (t) => {
    const { proxy, driver } = await troubled(t);
    proxy.treat(/^POST .*uploadId=/, ({ response, request }) => {
      request.resume();
      response
        .writeHead(200)
        .end("  <?xml version='1.0'?>\n<Error><Code>InternalError</Code></Error>");
    });
    const id = randomId();
    await driver.put(id, bodyOf(...chunks));
    assert.ok((await readBlob(driver, id)).equals(bytes));
  });

  test("is aborted when its body fails, a part is refused, or it cannot be completed", async (t) => {
    const { proxy, driver } = await troubled(t);
    const error = new Error("cut");
    const aborts = () => proxy.asked.filter((line) => /^DELETE .*uploadId=/.test(line)).length;
    await assert.rejects(
      driver.put(randomId(), failing(chunks, error)),
      (thrown) => thrown === error,
    );
    assert.equal(aborts(), 1);
    proxy.treat(/^PUT .*partNumber=1/, answering(403, "AccessDenied"));
    let isReturned = false;
    const endless = async function* (): Body {
      try {
        for (;;) yield chunks[0]!;
      } finally {
        isReturned = true;
      }
    };
    await assert.rejects(driver.put(randomId(), endless()), isUnavailable);
    assert.ok(isReturned, "the body was not returned");
    assert.equal(aborts(), 2);
    proxy.treat(/^POST .*uploadId=/, answering(400, "InvalidPart"));
    await assert.rejects(driver.put(randomId(), bodyOf(...chunks)), isUnavailable);
    assert.equal(aborts(), 3);
    assert.deepEqual([...(await idsOf(driver))], []);
  });
});

test("a server that falls silent is given up, a slow reader is not", async (t) => {
  const { proxy, driver } = await troubled(t, 1_000);
  const bytes = randomBytes(4 * MIB);
  const id = await keep(driver, bytes);
  proxy.treat(/^HEAD/, () => {}, 5); // As often as it is tried.
  await assert.rejects(driver.open(id), /nothing came/);
  const blob = (await driver.open(id))!;
  const found = [];
  for await (const chunk of blob.read({ offset: 0, length: blob.size })) {
    if (found.length === 1) await sleep(1_500);
    found.push(chunk);
  }
  assert.ok(Buffer.concat(found).equals(bytes));
  assert.equal(
    proxy.asked.filter((line) => line.startsWith("GET")).length,
    1,
    "it was asked again",
  );
  proxy.treat(
    /^GET/,
    ({ response }) => {
      response.writeHead(206, { "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}` });
      response.flushHeaders();
    },
    100,
  );
  await assert.rejects(readBlob(driver, id), /nothing came/);
});

suite("a list that cannot be trusted is a fault:", () => {
  const cases: [name: string, answer: string][] = [
    ["it is something else", "<Nothing/>"],
    [
      "it has no token to go on",
      "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    ],
    [
      "a key has no time",
      `<ListBucketResult><Contents><Key>PREFIX/${randomId()}</Key></Contents></ListBucketResult>`,
    ],
  ];
  for (const [name, answer] of cases) {
    test(name, async (t) => {
      const { proxy, driver } = await troubled(t);
      proxy.treat(/^GET/, ({ request, response }) => {
        const prefix = /prefix=([0-9a-f]+)/.exec(request.url!)![1]!;
        response.end(answer.replace("PREFIX", prefix));
      });
      await assert.rejects(idsOf(driver), isUnavailable);
    });
  }
});
