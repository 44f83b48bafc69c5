/** Uploads by form, as browsers send them: signed in the older way, which the SDKs no longer offer. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { KEY } from "../support/server.ts";
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";
import { signed } from "./s3-wire.ts";

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const buckets = `/accounts/${account}/storage/buckets`;
await call(server, "POST", buckets, { body: { name: "photos" } });
const store = connectStore({ url: server.origin, key: KEY }).bucket("photos");

const LIMIT = 1024 * 1024;
const FIELDS = [
  "acl",
  "Content-Type",
  "success_action_status",
  "success_action_redirect",
  "tagging",
];
const CONDITIONS = [
  { bucket: "photos" },
  ["starts-with", "$key", "up/"],
  ["starts-with", "$x-amz-meta-who", ""],
  ["starts-with", "$x-amz-checksum-crc32", ""],
  ["content-length-range", 1, LIMIT],
  ...FIELDS.map((name) => ["starts-with", `$${name}`, ""]),
];

interface Wish {
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: Blob | null;
  readonly filename?: string;
  readonly secret?: string;
}

function send({ fields = {}, file, filename = "me.png", secret = SECRET_ACCESS_KEY }: Wish = {}) {
  const expiration = new Date(Date.now() + 60_000).toISOString();
  const document = JSON.stringify({ expiration, conditions: CONDITIONS });
  const policy = Buffer.from(document).toString("base64");
  const signature = createHmac("sha1", secret).update(policy).digest("base64");
  const form = new FormData();
  const own = { key: "up/${filename}", AWSAccessKeyId: ACCESS_KEY_ID, policy, signature };
  for (const [name, value] of Object.entries({ ...own, ...fields })) form.append(name, value);
  if (file !== null) form.append("file", file ?? new Blob(["hello"]), filename);
  form.append("submit", "Upload"); // After the file, where it does not count.
  return fetch(`${server.endpoint}/photos`, { method: "POST", body: form, redirect: "manual" });
}

async function refused(answer: Response, status: number, code: string): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  assert.match(text, new RegExp(`<Code>${code}</Code>`));
}

suite("a form", () => {
  test("stores its file under its name, with what its fields say", async () => {
    const answer = await send({
      fields: {
        "Content-Type": "image/png",
        "x-amz-meta-who": "Zoë",
        "x-amz-checksum-crc32": "NhCmhg==",
        tagging: "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
      },
    });
    assert.equal(answer.status, 204, await answer.text());
    assert.equal(answer.headers.get("etag"), '"5d41402abc4b2a76b9719d911017c592"');
    assert.equal(answer.headers.get("location"), `${server.endpoint}/photos/up/me.png`);
    const object = await store.get("up/me.png");
    assert.equal(await object?.text(), "hello");
    assert.equal(object?.httpMetadata?.contentType, "image/png");
    assert.deepEqual(object.customMetadata, { who: "Zoë" });
  });

  test("is answered as it asks to be", async () => {
    const answer = await send({
      fields: { success_action_status: "201" },
      filename: "a&b <c>.png",
    });
    assert.equal(answer.status, 201);
    assert.match(
      await answer.text(),
      /<PostResponse><Location>.*\/photos\/up\/a%26b%20%3Cc%3E\.png<\/Location><Bucket>photos<\/Bucket><Key>up\/a&amp;b &lt;c&gt;\.png<\/Key><ETag>/,
    );
    assert.equal((await send({ fields: { success_action_status: "200" } })).status, 200);
    assert.equal((await send({ fields: { success_action_status: "404" } })).status, 204);
    const redirect = "http://example.com/done?x=1";
    const sent = await send({ fields: { success_action_redirect: redirect } });
    assert.equal(sent.status, 303);
    assert.equal(
      sent.headers.get("location"),
      `${redirect}&bucket=photos&key=up%2Fme.png&etag=%225d41402abc4b2a76b9719d911017c592%22`,
    );
  });

  test("may carry as much as its policy says, and no more", async () => {
    const full = new Blob([Buffer.alloc(LIMIT, "x")]);
    assert.equal((await send({ file: full, filename: "full" })).status, 204);
    assert.equal((await store.head("up/full"))?.size, LIMIT);
    const over = new Blob([Buffer.alloc(LIMIT + 1, "x")]);
    await refused(await send({ file: over, filename: "over" }), 400, "EntityTooLarge");
    await refused(await send({ file: new Blob([]), filename: "under" }), 400, "EntityTooSmall");
    assert.deepEqual([await store.head("up/over"), await store.head("up/under")], [null, null]);
  });

  for (const [what, wish, status, code] of [
    ["signed by another", { secret: "another" }, 403, "SignatureDoesNotMatch"],
    ["of an unknown key", { fields: { AWSAccessKeyId: "unknown" } }, 403, "InvalidAccessKeyId"],
    ["with a field more", { fields: { "x-amz-meta-b": "c" } }, 403, "AccessDenied"],
    ["for another place", { fields: { key: "elsewhere" } }, 403, "AccessDenied"],
    ["without a key", { fields: { key: "" } }, 400, "UserKeyMustBeSpecified"],
    ["without a file", { file: null }, 400, "IncorrectNumberOfFilesInPostRequest"],
    ["with a wrong checksum", { fields: { "x-amz-checksum-crc32": "AAAAAA==" } }, 400, "BadDigest"],
    ["that would be public", { fields: { acl: "public-read" } }, 501, "NotImplemented"],
  ] as const) {
    test(`${what} is ${code}, and stores nothing`, async () => {
      await refused(await send({ filename: "never", ...wish }), status, code);
      assert.equal(await store.head("up/never"), null);
    });
  }

  test("without a policy, or that is no form, is refused", async () => {
    const form = new FormData();
    form.append("key", "up/never");
    form.append("file", new Blob(["x"]), "x");
    const url = `${server.endpoint}/photos`;
    await refused(await fetch(url, { method: "POST", body: form }), 403, "AccessDenied");
    await refused(await fetch(url, { method: "POST", body: "x" }), 412, "PreconditionFailed");
  });

  test("is signed by its policy: a signed head says nothing of fields that can be changed", async () => {
    const bodyOf = (name: string) =>
      `--x\r\nContent-Disposition: form-data; name="key"\r\n\r\n${name}\r\n` +
      `--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--x--\r\n`;
    const { host: _, ...headers } = signed(server.endpoint, "POST", {
      path: "/photos",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: bodyOf("up/meant"),
    });
    const url = `${server.endpoint}/photos`;
    for (const name of ["up/other", "up/meant"]) {
      const answer = await fetch(url, { method: "POST", headers, body: bodyOf(name) });
      await refused(answer, 403, "AccessDenied");
      assert.equal(await store.head(name), null);
    }
  });
});
