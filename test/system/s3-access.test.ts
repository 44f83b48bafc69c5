/** Keys for S3: made over the API, used by stock clients, narrow, temporary, expired, revoked. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { sha256 } from "../../src/kit/secrets.ts";
import { EMPTY_PAYLOAD_HASH, signRequest } from "../../src/kit/sigv4.ts";
import { Cloudflare } from "../clients/index.ts";
import { until } from "../support/patience.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { EMAIL, KEY } from "../support/server.ts";
import { type ApiAnswer, bearer, call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

await import("../clients/install.ts");
const { getSignedUrl, S3 } = await import("../clients/s3.ts");

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const keys = `/accounts/${account}/storage/keys`;

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface Made {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly last_used_on: string | null;
}

const first = { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_ACCESS_KEY };

const clients: { destroy(): void }[] = [];
after(() => clients.forEach((client) => client.destroy()));
function clientWith(credentials: Credentials) {
  const { endpoint } = server;
  const client = new S3.S3Client({ endpoint, region: REGION, credentials, forcePathStyle: true });
  clients.push(client);
  return client;
}

const admin = clientWith(first);
for (const Bucket of ["photos", "others"]) {
  await admin.send(new S3.CreateBucketCommand({ Bucket }));
  for (const Key of ["2025/a", "2026/a"]) {
    await admin.send(new S3.PutObjectCommand({ Bucket, Key, Body: "x" }));
  }
}

async function make(body: object): Promise<Credentials> {
  const { result, status, text } = await call(server, "POST", keys, {
    body: { name: "test", permission: "read-write", ...body },
  });
  assert.equal(status, 200, text);
  const { access_key_id, secret_access_key } = result as Made;
  return { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
}

const refused = (answer: ApiAnswer, status: number, code: number) =>
  assert.deepEqual([answer.status, answer.errors[0]?.code], [status, code], answer.text);

const get = (client: typeof admin, Bucket: string, Key: string) =>
  client.send(new S3.GetObjectCommand({ Bucket, Key }));
const put = (client: typeof admin, Bucket: string, Key: string) =>
  client.send(new S3.PutObjectCommand({ Bucket, Key, Body: "y" }));
const DENIED = { name: "AccessDenied", $metadata: { httpStatusCode: 403 } };
const denied = (work: Promise<unknown>) =>
  assert.rejects(work, (error: { name: string; $metadata: { httpStatusCode: number } }) => {
    assert.deepEqual([error.name, error.$metadata.httpStatusCode], ["AccessDenied", 403]);
    return true;
  });

suite("an S3 key", () => {
  test("is shown with its secret once, and used at once", async () => {
    const { accessKeyId, secretAccessKey } = await make({ name: "shown" });
    const shown = (await call(server, "GET", `${keys}/${accessKeyId}`)).result as Made;
    assert.deepEqual(Object.keys(shown), [
      "access_key_id",
      "name",
      "permission",
      "buckets",
      "created_on",
      "expires_on",
      "last_used_on",
    ]);
    await get(clientWith({ accessKeyId, secretAccessKey }), "photos", "2026/a");
    await until(async () => {
      const used = await call(server, "GET", `${keys}/${accessKeyId}`);
      return (used.result as Made).last_used_on !== null;
    });
    const listed = (await call(server, "GET", keys)).text;
    assert.ok(listed.includes(accessKeyId) && !listed.includes(secretAccessKey));
  });

  test("reads and does not write when it is read-only", async () => {
    const client = clientWith(await make({ permission: "read-only" }));
    await get(client, "photos", "2026/a");
    await denied(put(client, "photos", "2026/b"));
    await denied(client.send(new S3.DeleteObjectCommand({ Bucket: "photos", Key: "2026/a" })));
    await denied(client.send(new S3.CreateBucketCommand({ Bucket: "new-one" })));
  });

  test("makes and deletes buckets only when it is admin", async () => {
    const client = clientWith(await make({}));
    await denied(client.send(new S3.CreateBucketCommand({ Bucket: "new-one" })));
    const other = clientWith(await make({ permission: "admin", buckets: [{ name: "new-one" }] }));
    await other.send(new S3.CreateBucketCommand({ Bucket: "new-one" }));
    await other.send(new S3.DeleteBucketCommand({ Bucket: "new-one" }));
    await denied(other.send(new S3.CreateBucketCommand({ Bucket: "new-two" })));
  });

  test("reads what is so of every bucket, as tools ask for it, and none of the settings", async () => {
    const client = clientWith(await make({ buckets: [{ name: "photos" }] }));
    const Bucket = "photos";
    assert.equal((await client.send(new S3.GetBucketAclCommand({ Bucket }))).Grants?.length, 1);
    await client.send(new S3.GetBucketVersioningCommand({ Bucket }));
    await denied(client.send(new S3.GetBucketVersioningCommand({ Bucket: "others" })));
    await denied(client.send(new S3.GetBucketCorsCommand({ Bucket })));
  });

  test("opens its buckets and no others, and sees only them", async () => {
    const client = clientWith(await make({ buckets: [{ name: "photos" }] }));
    await get(client, "photos", "2025/a");
    await denied(get(client, "others", "2025/a"));
    await denied(client.send(new S3.HeadBucketCommand({ Bucket: "others" })).catch(unnamed));
    const { Buckets = [] } = await client.send(new S3.ListBucketsCommand({}));
    assert.deepEqual(
      Buckets.map(({ Name }) => Name),
      ["photos"],
    );
  });

  test("opens what lies below its prefixes, whatever way leads there", async () => {
    const buckets = [{ name: "photos", prefixes: ["2026/"] }];
    const client = clientWith(await make({ buckets }));
    const Bucket = "photos";
    await get(client, Bucket, "2026/a");
    await put(client, Bucket, "2026/b");
    await denied(get(client, Bucket, "2025/a"));
    await denied(put(client, Bucket, "2027/a"));
    await denied(put(client, Bucket, "2026"));
    const list = (Prefix?: string) => client.send(new S3.ListObjectsV2Command({ Bucket, Prefix }));
    assert.equal((await list("2026/")).KeyCount, 2);
    await denied(list());
    await denied(list("202"));
    const copy = (source: string) =>
      client.send(new S3.CopyObjectCommand({ Bucket, Key: "2026/c", CopySource: source }));
    await copy("photos/2026/a");
    await denied(copy("photos/2025/a"));
    await denied(copy("others/2026/a"));
    const { Deleted = [], Errors = [] } = await client.send(
      new S3.DeleteObjectsCommand({
        Bucket,
        Delete: { Objects: [{ Key: "2026/c" }, { Key: "2025/a" }] },
      }),
    );
    assert.deepEqual(
      [Deleted.map(({ Key }) => Key), Errors.map(({ Key }) => Key)],
      [["2026/c"], ["2025/a"]],
    );
    await get(admin, Bucket, "2025/a");
    await client.send(new S3.HeadBucketCommand({ Bucket }));
    const upload = client.send(new S3.CreateMultipartUploadCommand({ Bucket, Key: "2025/big" }));
    await denied(upload);
  });

  test("opens nothing once it has been revoked", async () => {
    const credentials = await make({});
    const client = clientWith(credentials);
    await get(client, "photos", "2026/a");
    const path = `${keys}/${credentials.accessKeyId}`;
    const { result } = await call(server, "DELETE", path);
    assert.deepEqual(result, { access_key_id: credentials.accessKeyId });
    await assert.rejects(get(client, "photos", "2026/a"), { name: "InvalidAccessKeyId" });
    for (const method of ["GET", "DELETE"]) refused(await call(server, method, path), 404, 1003);
  });

  test("opens nothing once it has expired", async () => {
    const expires = new Date(Date.now() + 8_000); // Time enough to make it and use it on a busy machine.
    const client = clientWith(await make({ expires_on: expires.toISOString() }));
    await get(client, "photos", "2026/a");
    await new Promise((resolve) => void setTimeout(resolve, expires.getTime() - Date.now() + 1));
    await assert.rejects(get(client, "photos", "2026/a"), { name: "InvalidAccessKeyId" });
  });

  test("is refused when it makes no sense", async () => {
    const wrong = [
      {},
      { name: "x" },
      { name: "", permission: "admin" },
      { name: "x", permission: "root" },
      { name: "x", permission: "admin", buckets: [] },
      { name: "x", permission: "admin", buckets: [{ name: "Bad_Name" }] },
      { name: "x", permission: "admin", buckets: [{ name: "photos", prefixes: ["a"] }] },
      { name: "x", permission: "read-only", buckets: [{ name: "photos", prefixes: [""] }] },
      { name: "x", permission: "admin", expires_on: "2020-01-01T00:00:00Z" },
      { name: "x", permission: "admin", expires_on: "soon" },
    ];
    for (const body of wrong) refused(await call(server, "POST", keys, { body }), 400, 1001);
  });

  test("is made only by who may change buckets, and is of one account", async () => {
    const reader = {
      name: "reader",
      policies: [policy("allow", accountKey(account), "storageRead")],
    };
    const { result } = await call(server, "POST", "/user/tokens", { body: reader });
    const headers = bearer((result as { value: string }).value);
    assert.equal((await call(server, "GET", keys, { headers })).status, 200);
    const body = { name: "x", permission: "admin" };
    refused(await call(server, "POST", keys, { headers, body }), 403, 9109);
    refused(await call(server, "DELETE", `${keys}/${ACCESS_KEY_ID}`, { headers }), 403, 9109);

    const made = await call(server, "POST", "/accounts", { body: { name: "Other" } });
    const other = (made.result as { id: string }).id;
    const path = `/accounts/${other}/storage/keys`;
    assert.deepEqual((await call(server, "GET", path)).result, []);
    refused(await call(server, "GET", `${path}/${ACCESS_KEY_ID}`), 404, 1003);
    refused(await call(server, "DELETE", `${path}/${ACCESS_KEY_ID}`), 404, 1003);
    const foreign = (await call(server, "POST", path, { body })).result as Made;
    const client = clientWith({
      accessKeyId: foreign.access_key_id,
      secretAccessKey: foreign.secret_access_key,
    });
    await denied(get(client, "photos", "2026/a"));
    const { Buckets = [] } = await client.send(new S3.ListBucketsCommand({}));
    assert.deepEqual(Buckets, []);
  });
});

/** HEAD answers have no body, and so no name for what is wrong. */
function unnamed(error: { $metadata: { httpStatusCode: number } }): never {
  assert.equal(error.$metadata.httpStatusCode, 403);
  throw Object.assign(new Error("denied"), DENIED);
}

suite("temporary credentials", () => {
  const path = `/accounts/${account}/r2/temp-access-credentials`;
  const wish = {
    bucket: "photos",
    parentAccessKeyId: ACCESS_KEY_ID,
    permission: "object-read-only",
    ttlSeconds: 900,
  };
  const minted = async (change: object = {}) => {
    const answer = await call(server, "POST", path, { body: { ...wish, ...change } });
    assert.equal(answer.status, 200, answer.text);
    return answer.result as Credentials;
  };

  test("made over the API open what was asked for, for stock clients", async () => {
    const client = clientWith(await minted({ prefixes: ["2026/"], objects: ["2025/a"] }));
    await get(client, "photos", "2026/a");
    await get(client, "photos", "2025/a");
    await denied(get(client, "photos", "2025/b"));
    await denied(put(client, "photos", "2026/d"));
    await denied(get(client, "others", "2026/a"));
    await put(clientWith(await minted({ permission: "object-read-write" })), "photos", "2026/d");
  });

  test("that cannot list do not learn what is missing, be it by a copy", async () => {
    const objects = ["2025/none", "2025/copy"];
    const client = clientWith(await minted({ permission: "object-read-write", objects }));
    await denied(get(client, "photos", "2025/none"));
    const copy = { Bucket: "photos", Key: "2025/copy", CopySource: "photos/2025/none" };
    await denied(client.send(new S3.CopyObjectCommand(copy)));
  });

  test("are made by the stock SDK of the API", async () => {
    const api = new Cloudflare({
      baseURL: server.base,
      apiEmail: EMAIL,
      apiKey: KEY,
      apiToken: null,
      userServiceKey: null,
      maxRetries: 0,
    });
    const made = await api.r2.temporaryCredentials.create({
      account_id: account,
      bucket: "photos",
      parentAccessKeyId: ACCESS_KEY_ID,
      permission: "object-read-only",
      ttlSeconds: 60,
    });
    await get(clientWith(made as Credentials), "photos", "2026/a");
  });

  test("made by a client itself are as good, and may name operations", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      bucket: "photos",
      scope: "object-read-only",
      actions: ["GetObject"],
      paths: { prefixPaths: ["2026/"], objectPaths: [] },
      sub: account,
      iss: ACCESS_KEY_ID,
      aud: new URL(server.endpoint).host,
      iat: now,
      exp: now + 60,
    };
    const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
    const signature = createHmac("sha256", SECRET_ACCESS_KEY).update(signed).digest("base64url");
    const token = `${signed}.${signature}`;
    const client = clientWith({
      accessKeyId: ACCESS_KEY_ID,
      secretAccessKey: sha256(token),
      sessionToken: Buffer.from(`jwt/${token}`).toString("base64"),
    });
    await get(client, "photos", "2026/a");
    await denied(get(client, "photos", "2025/a"));
    const list = new S3.ListObjectsV2Command({ Bucket: "photos", Prefix: "2026/" });
    await denied(client.send(list));
  });

  test("die with their key, and open no more than it", async () => {
    const parent = await make({ buckets: [{ name: "photos", prefixes: ["2026/"] }] });
    const parentAccessKeyId = parent.accessKeyId;
    const client = clientWith(await minted({ parentAccessKeyId }));
    await get(client, "photos", "2026/a");
    await denied(get(client, "photos", "2025/a"));
    await call(server, "DELETE", `${keys}/${parentAccessKeyId}`);
    await assert.rejects(get(client, "photos", "2026/a"), { name: "InvalidAccessKeyId" });
  });

  test("expire", async () => {
    const client = clientWith(await minted({ ttlSeconds: 1 }));
    await new Promise((resolve) => void setTimeout(resolve, 1_100));
    await assert.rejects(get(client, "photos", "2026/a"), { name: "ExpiredToken" });
  });

  test("are refused when they make no sense", async () => {
    for (const change of [
      { bucket: undefined },
      { permission: "root" },
      { ttlSeconds: 0 },
      { ttlSeconds: 604_801 },
      { bucket: "Bad_Name" },
      { prefixes: [""] },
    ]) {
      refused(await call(server, "POST", path, { body: { ...wish, ...change } }), 400, 1001);
    }
    const body = { ...wish, parentAccessKeyId: "unknown" };
    refused(await call(server, "POST", path, { body }), 404, 1003);
    const { accessKeyId } = await make({ permission: "read-only" });
    const more = { ...wish, parentAccessKeyId: accessKeyId, permission: "object-read-write" };
    refused(await call(server, "POST", path, { body: more }), 400, 1001);
  });
});

suite("a signed link that comes again, with the same headers", () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  after(() => agent.destroy());

  async function ask(url: string, headers: object = {}, method = "GET"): Promise<string> {
    const sent = request(url, { agent, method, headers: { "user-agent": "a", ...headers } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const body = await text(response);
    return `${response.statusCode} ${/<Code>(\w+)/.exec(body)?.[1] ?? body}`.trim();
  }

  const link = (credentials: Credentials, expiresIn: number) =>
    getSignedUrl(
      clientWith(credentials),
      new S3.GetObjectCommand({ Bucket: "photos", Key: "2026/a" }),
      { expiresIn },
    );

  test("is served until its key is revoked", async () => {
    const key = await make({});
    const url = await link(key, 600);
    for (let i = 0; i < 5; i++) assert.equal(await ask(url), "200 x");
    await call(server, "DELETE", `${keys}/${key.accessKeyId}`);
    assert.equal(await ask(url), "403 InvalidAccessKeyId");
  });

  test("is served until it expires", async () => {
    const url = await link(first, 2);
    assert.equal(await ask(url), "200 x");
    assert.equal(await ask(url), "200 x");
    await until(async () => (await ask(url)) === "403 AccessDenied");
  });

  test("is good for nothing else", async () => {
    const url = await link(first, 600);
    assert.equal(await ask(url), "200 x");
    assert.equal(await ask(url, { "x-amz-acl": "private" }), "403 AccessDenied");
    assert.equal(await ask(url, { host: "other.test" }), "403 SignatureDoesNotMatch");
    assert.equal(await ask(url, {}, "HEAD"), "403");
    assert.equal(await ask(url, {}, "DELETE"), "403 SignatureDoesNotMatch");
    assert.equal(await ask(url.replace("2026", "2025")), "403 SignatureDoesNotMatch");
    assert.equal(await ask(url), "200 x");
  });

  test("finds what is there now", async () => {
    await admin.send(new S3.PutObjectCommand({ Bucket: "photos", Key: "now", Body: "one" }));
    const command = new S3.GetObjectCommand({ Bucket: "photos", Key: "now" });
    const url = await getSignedUrl(admin, command, { expiresIn: 600 });
    assert.equal(await ask(url), "200 one");
    await admin.send(new S3.PutObjectCommand({ Bucket: "photos", Key: "now", Body: "two" }));
    assert.equal(await ask(url), "200 two");
    await admin.send(new S3.DeleteObjectCommand({ Bucket: "photos", Key: "now" }));
    assert.equal(await ask(url), "404 NoSuchKey");
  });
});

suite("a request signed by hand", () => {
  const host = new URL(server.endpoint).host;
  const ask = async (
    path: string,
    change: { method?: string; headers?: Record<string, string>; at?: number } = {},
  ) => {
    const { method = "GET", headers: more = {}, at = Date.now() } = change;
    const headers = signRequest(
      { method, path, query: {}, headers: { host }, payloadHash: EMPTY_PAYLOAD_HASH },
      {
        key: { id: ACCESS_KEY_ID, secret: SECRET_ACCESS_KEY },
        region: "anywhere",
        service: "s3",
        now: at,
      },
    );
    const { host: _, ...sent } = { ...headers, ...more };
    const response = await fetch(server.endpoint + path, { method, headers: sent });
    return { status: response.status, text: await response.text() };
  };

  test("is taken in any region", async () => {
    assert.equal((await ask("/photos/2026/a")).status, 200);
  });

  for (const [what, change, status, code] of [
    ["an old clock", { at: Date.now() - 16 * 60_000 }, 403, "RequestTimeTooSkewed"],
    ["an unsigned header", { headers: { "x-amz-acl": "private" } }, 403, "AccessDenied"],
    ["version 2", { headers: { authorization: "AWS a:b" } }, 400, "InvalidRequest"],
    ["no credentials", { headers: { authorization: "" } }, 400, "InvalidArgument"],
    ["another hash", { headers: { "x-amz-content-sha256": "x" } }, 403, "SignatureDoesNotMatch"],
  ] as const) {
    test(`with ${what} is ${code}`, async () => {
      const answer = await ask("/photos/2026/a", change);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, new RegExp(`<Code>${code}</Code>`));
    });
  }

  test("that does not match is told what was built, and nothing that is secret", async () => {
    const { text } = await ask("/photos/2026/a", { headers: { "x-amz-date": "20260101T000000Z" } });
    assert.match(text, /<Code>RequestTimeTooSkewed<\/Code>/);
    const wrong = await ask("/photos/2026/a", { headers: { "x-amz-content-sha256": "y" } });
    assert.match(wrong.text, /<CanonicalRequest>GET\n\/photos\/2026\/a\n/);
    assert.match(wrong.text, /<StringToSign>AWS4-HMAC-SHA256\n/);
    assert.ok(!wrong.text.includes(SECRET_ACCESS_KEY));
  });
});

test("no secret and no signature is in the log", () => {
  const { stdout, stderr } = server.output;
  for (const secret of [SECRET_ACCESS_KEY, "Signature=", "jwt/", "X-Amz-Signature"]) {
    assert.ok(!(stdout + stderr).includes(secret), secret);
  }
});
