/** Notifications of buckets over the API: to webhooks that fail and come back, and to scripts. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { until } from "../support/patience.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { startS3 } from "../support/s3.ts";
import { EMAIL, KEY, keyHeaders, type TestServer } from "../support/server.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";
import { type Ask, ask } from "./s3-wire.ts";

const env = { SELVEDGE_EVENTS_WEBHOOKS: "127.0.0.0/8" };
const args = ["--dns", "off", "--edge-tls", "off"];

interface Shown {
  readonly id: string;
  readonly target: { readonly secret?: string };
  readonly delivery: {
    readonly pending: number;
    readonly failed: number;
    readonly last_error: string | null;
    readonly next_attempt_on: string | null;
  };
}

/** A bucket on a server, with ways to it. */
async function bucketOn(server: TestServer, name: string) {
  const { account } = await firstIds(server);
  const buckets = `/accounts/${account}/storage/buckets`;
  const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await call(server, method, path, { ...(body && { body }) });
    assert.equal(answer.status, 200, answer.text);
    return answer.result as T;
  };
  const store = connectStore({ url: server.origin, email: EMAIL, key: KEY });
  const path = `${buckets}/${name}/notifications`;
  return { account, buckets, api, path, objects: store.bucket(name) };
}

const toWebhook = (url: string, more: object = {}) => ({
  events: ["object-create", "object-delete"],
  target: { type: "webhook", url },
  ...more,
});

suite("notifications of a bucket", () => {
  test("are made, shown, changed, retried and removed", async () => {
    await using receiver = await WebhookReceiver.open();
    await using server = await startS3({ env, args });
    const { api, buckets, path, objects } = await bucketOn(server, "photos");
    await api("POST", buckets, { name: "photos" });
    assert.deepEqual(await api("GET", path), []);
    const given = toWebhook(receiver.url, { prefix: "in/", suffix: ".jpg", description: "thumbs" });
    const { target, ...made } = await api<Shown & Record<string, unknown>>("POST", path, given);
    assert.match(target.secret!, /^whsec_/);
    const shown = await api<Shown & Record<string, unknown>>("GET", `${path}/${made.id}`);
    assert.deepEqual(shown, { ...made, target: { type: "webhook", url: receiver.url } });
    assert.deepEqual(shown["events"], ["object-create", "object-delete"]);
    assert.deepEqual(await api("GET", path), [shown]);

    receiver.answer = () => 500;
    await objects.put("in/a.jpg", "a");
    await objects.put("out/a.jpg", "a");
    const delivery = async () => (await api<Shown>("GET", `${path}/${made.id}`)).delivery;
    await until(async () => (await delivery()).last_error === "The webhook answered 500");
    assert.equal((await delivery()).pending, 1);
    assert.notEqual((await delivery()).next_attempt_on, null);
    const [event] = await api<Record<string, unknown>[]>("GET", `${path}/${made.id}/events`);
    assert.equal(event!["key"], "in/a.jpg");
    assert.equal(event!["event"], "ObjectCreated:Put");
    assert.equal(event!["last_error"], "The webhook answered 500");
    assert.deepEqual(await api("GET", `${path}/${made.id}/events?state=failed`), []);
    receiver.answer = () => 200;
    await api("POST", `${path}/${made.id}/retry`);
    await until(async () => (await delivery()).pending === 0);
    assert.ok(receiver.keys.every((key) => key === "in/a.jpg"));

    const edited = await api<Shown>("PATCH", `${path}/${made.id}`, { prefix: "out/" });
    assert.deepEqual([edited.id, edited.target.secret], [made.id, undefined]);
    await objects.put("out/b.jpg", "b");
    await until(() => receiver.keys.includes("out/b.jpg"));
    assert.deepEqual(await api("DELETE", `${path}/${made.id}`), { id: made.id });
    assert.equal((await call(server, "GET", `${path}/${made.id}`)).status, 404);
    assert.deepEqual(await api("GET", path), []);
  });

  test("that cannot be are refused, and change nothing", async () => {
    await using server = await startS3({ args });
    const { api, buckets, path } = await bucketOn(server, "strict");
    await api("POST", buckets, { name: "strict" });
    const url = "https://example.com/";
    const bad: readonly [object, RegExp][] = [
      [toWebhook("http://127.0.0.1:9/"), /internal address/],
      [toWebhook("ftp://example.com/"), /no URL of http or https/],
      [toWebhook("https://a:b@example.com/"), /no user or password/],
      [toWebhook(url, { events: [] }), /needs events/],
      [toWebhook(url, { events: ["object-read"] }), /events/],
      [toWebhook(url, { prefix: "x".repeat(1_025) }), /at most 1024 octets/],
      [{ events: ["object-create"], target: { type: "webhook", url, secret: "short" } }, /whsec_/],
      [{ events: ["object-create"], target: { type: "mail", to: "x" } }, /target/],
      [{ events: ["object-create"] }, /target is a required field/],
    ];
    for (const [body, message] of bad) {
      const { status, errors } = await call(server, "POST", path, { body });
      assert.equal(status, 400);
      assert.match(errors[0]!.message, message);
    }
    const script = { events: ["object-create"], target: { type: "script", script: "none" } };
    assert.equal((await call(server, "POST", path, { body: script })).status, 404);
    assert.equal((await call(server, "GET", path.replace("strict", "none"))).status, 404);
    assert.deepEqual(await api("GET", path), []);
  });

  test("tell of what S3 clients do, by its own names", async () => {
    await using receiver = await WebhookReceiver.open();
    await using server = await startS3({ env, args });
    const { api, buckets, path, account } = await bucketOn(server, "s3-events");
    await api("POST", buckets, { name: "s3-events" });
    await api("POST", path, toWebhook(receiver.url));
    const name = "s3-events";
    const done = async (method: string, wanted: Ask) => {
      const { status, text } = await ask(server.endpoint, method, wanted);
      assert.equal(status, 200, text);
    };
    await done("PUT", { path: `/${name}/a%20b`, body: "hello" });
    const headers = { "x-amz-copy-source": `/${name}/a%20b` };
    await done("PUT", { path: `/${name}/copy`, headers });
    const objects = ["a b", "copy", "never"].map((key) => `<Object><Key>${key}</Key></Object>`);
    const body = `<Delete>${objects.join("")}</Delete>`;
    const md5 = { "content-md5": hash("md5", body, "base64") };
    await done("POST", { path: `/${name}`, query: { delete: "" }, body, headers: md5 });
    await until(() => receiver.received.length === 4);
    const of = (key: string) => receiver.received.filter((one) => one.key === key);
    assert.deepEqual(
      of("a b").map(({ name }) => name),
      ["ObjectCreated:Put", "ObjectRemoved:Delete"],
    );
    const [copied] = of("copy");
    assert.equal(copied!.name, "ObjectCreated:Copy");
    const { copySource, accountId } = copied!.record["selvedge"] as Record<string, unknown>;
    assert.deepEqual([copySource, accountId], [{ bucket: name, key: "a b" }, account]);
  });
});

suite("a webhook", () => {
  test("that is down hears of everything when it is back, also after kill -9 of the server", async (t) => {
    const data = await mkdtemp(join(tmpdir(), "selvedge-events-"));
    t.after(() => rm(data, { recursive: true, force: true }));
    await using receiver = await WebhookReceiver.open();
    const acknowledged: string[] = [];
    {
      await using server = await startS3({ env, args, data });
      const { api, buckets, path, objects } = await bucketOn(server, "crash");
      await api("POST", buckets, { name: "crash" });
      await api("POST", path, toWebhook(receiver.url));
      await receiver.close();
      for (let i = 0; i < 50; i++) {
        await objects.put(`down-${i}`, "x");
        acknowledged.push(`down-${i}`);
      }
      // Cut off in the middle of writes, when some are committed and nobody was told.
      const writes = Array.from({ length: 200 }, async (_, i) => {
        await objects.put(`cut-${i}`, "x");
        acknowledged.push(`cut-${i}`);
      });
      const all = Promise.allSettled(writes);
      await until(() => acknowledged.length > 80);
      await server.end("SIGKILL");
      await all;
    }
    await receiver.listen();
    await using again = await startS3({ env, args, data });
    assert.notEqual(again.origin, "");
    await until(() => acknowledged.every((key) => receiver.keys.includes(key)));
  });

  test("hears once of each event, from whichever of two nodes", async (t) => {
    t.after(stopOwnPostgres);
    await using receiver = await WebhookReceiver.open();
    const shared = {
      args: [...args, "--database", await freshPostgresUrl()],
      env: { ...env, SELVEDGE_SECRET_KEY: "a secret that all nodes share" },
    };
    await using first = await startS3(shared);
    await using second = await startS3(shared);
    const one = await bucketOn(first, "shared");
    const two = await bucketOn(second, "shared");
    await one.api("POST", one.buckets, { name: "shared" });
    const { id } = await one.api<Shown>("POST", one.path, toWebhook(receiver.url));
    // Small values are rows, so that nodes need not share blobs.
    const keys = Array.from({ length: 100 }, (_, i) => `key-${i % 20}`);
    await Promise.all(keys.map((key, i) => [one, two][i % 2]!.objects.put(key, String(i))));
    const pending = async () => (await two.api<Shown>("GET", `${two.path}/${id}`)).delivery.pending;
    await until(async () => (await pending()) === 0);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual([ids.length, new Set(ids).size], [keys.length, keys.length]);
    for (const key of new Set(keys)) {
      const told = receiver.received.filter((event) => event.key === key);
      const order = told.map(({ record }) => String(record.s3.object["sequencer"]));
      assert.deepEqual(order, order.toSorted());
      const etag = (await one.objects.head(key))!.etag;
      assert.equal(told.at(-1)!.record.s3.object["eTag"], etag);
    }
  });
});

test("a script hears of a bucket's changes as it would from a queue", async () => {
  await using server = await startS3({ env, args });
  const { api, account, buckets, path, objects } = await bucketOn(server, "inbox");
  await api("POST", buckets, { name: "inbox" });
  await api("POST", buckets, { name: "log" });
  // What it is told it writes down, in another bucket; the first time it fails.
  const source = `let failed = false;
    export default {
      async fetch() { return new Response("ok"); },
      async queue(batch, env) {
        for (const message of batch.messages) {
          if (!failed) { failed = true; message.retry(); continue; }
          const { action, object } = message.body;
          await env.LOG.put(action + " " + object.key, JSON.stringify(message.body));
          message.ack();
        } } }`;
  const form = new FormData();
  const metadata = {
    main_module: "a.js",
    compatibility_date: "2026-07-01",
    bindings: [{ type: "r2_bucket", name: "LOG", bucket_name: "log" }],
  };
  form.set("metadata", JSON.stringify(metadata));
  form.set("a.js", new File([source], "a.js", { type: "application/javascript+module" }));
  const uploaded = await fetch(`${server.base}/accounts/${account}/workers/scripts/consumer`, {
    method: "PUT",
    headers: keyHeaders,
    body: form,
  });
  assert.equal(uploaded.status, 200, await uploaded.text());
  const target = { type: "script", script: "consumer" };
  const events = ["object-create", "object-delete"];
  const { id } = await api<Shown>("POST", path, { events, target });
  const put = await objects.put("a", "hello");
  await objects.delete("a");
  const pending = async () => (await api<Shown>("GET", `${path}/${id}`)).delivery.pending;
  await until(async () => (await pending()) === 0);
  const log = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket("log");
  const created = (await (await log.get("PutObject a"))!.json()) as Record<string, unknown>;
  const { eventTime, ...rest } = created;
  assert.match(String(eventTime), /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(rest, {
    account,
    action: "PutObject",
    bucket: "inbox",
    object: { key: "a", size: 5, eTag: put.etag },
  });
  const removed = await (await log.get("DeleteObject a"))!.json<Record<string, unknown>>();
  assert.deepEqual(removed["object"], { key: "a" });
});
