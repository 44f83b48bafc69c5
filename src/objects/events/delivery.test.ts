/** Events are told: each at least once, those of a key in order, whatever the target does meanwhile. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { acquireLease, type Database, releaseLease } from "#db";
import { atMost } from "#kit/at-once.ts";
import { ranges } from "#kit/cidr.ts";
import { until } from "../../../test/support/patience.ts";
import { WebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { memoryDriver } from "../drivers/memory.ts";
import type { Bucket } from "../model.ts";
import { ObjectStore } from "../object-store.ts";
import {
  ACCOUNT,
  is,
  octets,
  onBothEngines,
  putAll,
  smallLimits,
  SOME_AT_ONCE,
} from "../store.contract.ts";
import { wrapped } from "../trouble.contract.ts";
import { type DeliveryOptions, EventDelivery } from "./delivery.ts";
import type { NewNotification } from "./model.ts";
import { Notifications } from "./notifications.ts";

const sealKey = new Uint8Array(32).fill(7);
const HOUR_MS = 3_600_000;

onBothEngines("events", (db, open) => {
  let clock = Date.UTC(2026, 10, 15, 12);
  let made = 0;
  const policy = { allowed: ranges(["127.0.0.0/8"]) };
  const now = () => clock;

  class Rig implements AsyncDisposable {
    readonly store: ObjectStore;
    readonly notifications: Notifications;
    readonly delivery: EventDelivery;
    readonly errors: unknown[] = [];

    constructor(on: Database, options: Partial<DeliveryOptions> = {}) {
      this.store = new ObjectStore({ db: on, blobs: memoryDriver(now), now, limits: smallLimits });
      this.notifications = new Notifications({ db: on, store: this.store, sealKey, policy, now });
      this.delivery = new EventDelivery({
        db: on,
        sealKey,
        policy,
        now,
        random: () => 0,
        toScript: async () => assert.fail("no script is told"),
        onError: (error) => this.errors.push(error),
        ...options,
      });
    }

    /** Delivers all that can be delivered now. */
    async deliver(): Promise<void> {
      this.delivery.wake();
      await this.delivery.begin();
      await this.delivery.settled();
    }

    async bucket(url: string, more: Partial<NewNotification> = {}): Promise<[Bucket, string]> {
      const { name } = await this.store.createBucket(ACCOUNT, `events-${++made}`);
      const { notification } = await this.notifications.create(await this.store.bucket(name), {
        description: "",
        events: ["object-create", "object-delete"],
        prefix: "",
        suffix: "",
        target: { kind: "webhook", url },
        ...more,
      });
      return [await this.store.bucket(name), notification.id];
    }

    async state(bucket: Bucket, id: string) {
      return (await this.notifications.get(bucket, id)).delivery;
    }

    async [Symbol.asyncDispose](): Promise<void> {
      await this.delivery[Symbol.asyncDispose]();
      await this.store[Symbol.asyncDispose]();
      assert.deepEqual(this.errors, []);
    }
  }

  test("tell of what has come and gone, in the form of S3, signed", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url, { secret: `whsec_${"QUFB".repeat(8)}` });
    const { store } = rig;
    const put = await store.put(bucket, "a b/ü", octets("hello"));
    await store.put(bucket, "copied", octets("hello"), {
      cameBy: { kind: "copy", bucket: "other", key: "source" },
    });
    await store.put(bucket, "posted", octets(""), { cameBy: { kind: "post" } });
    const upload = await store.createUpload(bucket, "parts");
    const part = await store.uploadPart(bucket, "parts", upload.uploadId, 1, octets("part"));
    await store.completeUpload(bucket, "parts", upload.uploadId, [part], { evenParts: true });
    await store.delete(bucket, ["a b/ü", "missing", "posted"]);
    await store.deleteIf(bucket, "copied", {});
    await rig.deliver();
    const told = receiver.received.map(({ key, name }) => `${name} ${key}`).sort();
    assert.deepEqual(told, [
      "ObjectCreated:CompleteMultipartUpload parts",
      "ObjectCreated:Copy copied",
      "ObjectCreated:Post posted",
      "ObjectCreated:Put a b/ü",
      "ObjectRemoved:Delete a b/ü",
      "ObjectRemoved:Delete copied",
      "ObjectRemoved:Delete posted",
    ]);
    const first = receiver.received.find(({ name }) => name === "ObjectCreated:Put")!;
    const { sequencer, ...object } = first.record.s3.object;
    assert.deepEqual(object, { key: "a+b/%C3%BC", size: 5, eTag: put!.etag });
    assert.match(String(sequencer), /^[0-9A-F]{16}$/);
    const { "webhook-id": messageId, "webhook-timestamp": timestamp } = first.headers;
    assert.ok(String(messageId).startsWith(id));
    const signature = createHmac("sha256", Buffer.from("QUFB".repeat(8), "base64"))
      .update(`${String(messageId)}.${String(timestamp)}.${first.text}`)
      .digest("base64");
    assert.equal(first.headers["webhook-signature"], `v1,${signature}`);
    assert.equal((await rig.state(bucket, id)).waiting, 0);
  });

  test("go by prefix, suffix and kind, for each rule by itself", async () => {
    await using all = await WebhookReceiver.open();
    await using some = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket] = await rig.bucket(all.url, { events: ["object-delete"] });
    await rig.notifications.create(bucket, {
      description: "",
      events: ["object-create"],
      prefix: "img/",
      suffix: ".jpg",
      target: { kind: "webhook", url: some.url },
    });
    const keys = ["img/a.jpg", "img/a.png", "a.jpg", "img/.jpg", "img/jpg", "g", "img/ä.jpg"];
    for (const key of keys) await rig.store.put(bucket, key, octets(key));
    await rig.store.delete(bucket, keys);
    await rig.deliver();
    assert.deepEqual(some.keys.sort(), ["img/.jpg", "img/a.jpg", "img/ä.jpg"]);
    assert.deepEqual(all.keys.sort(), keys.toSorted());
  });

  test("tell of what a lifecycle rule has removed", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket] = await rig.bucket(receiver.url, { events: ["object-delete"] });
    const filter = { form: "filter", prefix: "old" } as const;
    const rule = { id: "r", enabled: true, filter, expiration: { days: 1 }, transitions: [] };
    await rig.store.setSetting(bucket, "lifecycle", [rule]);
    for (const key of ["old", "new"]) await rig.store.put(bucket, key, octets(key));
    clock += 48 * HOUR_MS;
    await rig.store.carryOutLifecycle();
    await rig.deliver();
    const told = receiver.received.map(({ key, name }) => [key, name]);
    assert.deepEqual(told, [["old", "LifecycleExpiration:Delete"]]);
  });

  test("are one for each of a thousand keys that are deleted at once", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url, { events: ["object-delete"] });
    const keys = Array.from({ length: 1_000 }, (_, i) => `k${i}`);
    await putAll(rig.store, bucket, keys);
    await rig.store.delete(bucket, keys);
    await rig.deliver();
    assert.deepEqual(receiver.keys.sort(), keys.toSorted());
    assert.equal((await rig.state(bucket, id)).waiting, 0);
  });

  test("of a key come in the order of its changes, however many write and fail", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url);
    const keys = Array.from({ length: 15 }, (_, i) => `key-${i}`);
    await atMost(SOME_AT_ONCE, Array(300).keys(), async (i) => {
      const key = keys[Math.floor(i / 2) % keys.length]!;
      if (i % 2 === 1) await rig.store.delete(bucket, [key]);
      else await rig.store.put(bucket, key, octets(`${i} of any length`.slice(0, i % 12)));
    });
    let asked = 0;
    receiver.answer = () => (++asked % 7 === 0 ? 500 : 200);
    while ((await rig.state(bucket, id)).waiting > 0) {
      await rig.deliver();
      clock += HOUR_MS;
    }
    for (const key of keys) {
      const told = receiver.received.filter((one) => one.key === key);
      const numbers = told.map(({ record }) => String(record.s3.object["sequencer"]));
      assert.deepEqual(numbers, numbers.toSorted());
      const there = await rig.store.head(bucket, key);
      assert.equal(told.at(-1)!.record.s3.object["eTag"], there?.etag);
    }
  });

  test("wait for a target that fails, longer each time, and are given up after a day", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url);
    receiver.answer = () => 500;
    for (const key of ["a", "b", "c"]) await rig.store.put(bucket, key, octets(key));
    await rig.deliver();
    const failing = await rig.state(bucket, id);
    assert.deepEqual(
      { ...failing, nextAttemptAt: failing.nextAttemptAt! - clock },
      {
        waiting: 3,
        failed: 0,
        dropped: 0,
        failures: 1,
        lastError: "The webhook answered 500",
        nextAttemptAt: 1_000,
      },
    );
    const before = receiver.received.length;
    await rig.deliver();
    assert.equal(receiver.received.length, before);
    clock += 1_000;
    await rig.deliver();
    assert.equal(receiver.received.length, before + 1);
    assert.equal((await rig.state(bucket, id)).nextAttemptAt! - clock, 2_000);
    for (let attempt = 0; attempt < 20; attempt++) {
      clock += 25 * HOUR_MS;
      await rig.deliver();
    }
    assert.deepEqual(
      await rig.state(bucket, id).then(({ waiting, failed }) => [waiting, failed]),
      [0, 3],
    );
    const failed = { isFailed: true, after: 0, limit: 10 };
    const given = await rig.notifications.events(bucket, id, failed);
    assert.deepEqual(
      given.map(({ key, lastError }) => [key, lastError]),
      ["a", "b", "c"].map((key) => [key, "The webhook answered 500"]),
    );
    receiver.answer = () => 200;
    assert.equal(await rig.notifications.retry(bucket, id), 3);
    receiver.received.length = 0;
    await rig.deliver();
    assert.deepEqual(receiver.keys.sort(), ["a", "b", "c"]);
    assert.deepEqual((await rig.state(bucket, id)).failures, 0);
  });

  test("that a target cannot take hold back those of their key alone", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url);
    receiver.answer = ({ key }) => (key === "bad" ? 400 : 200);
    for (let i = 0; i < 600; i++) await rig.store.put(bucket, "bad", octets(String(i)));
    for (let round = 0; round < 5; round++) {
      await rig.store.put(bucket, `good-${round}`, octets("x"));
      clock += 2_000;
      await rig.deliver();
    }
    clock += 2_000;
    await rig.deliver();
    const good = receiver.keys.filter((key) => key !== "bad");
    assert.deepEqual(good, ["good-0", "good-1", "good-2", "good-3", "good-4"]);
    assert.equal((await rig.state(bucket, id)).waiting, 600);
    receiver.answer = () => 200;
    await rig.notifications.retry(bucket, id);
    receiver.received.length = 0;
    await rig.deliver();
    assert.equal(receiver.received.length, 600);
  });

  test("go nowhere else: no redirects, no internal addresses, and not for ever", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db(), { webhookTimeoutMs: 50 });
    const [bucket, id] = await rig.bucket(receiver.url);
    const lastError = async () => {
      clock += HOUR_MS;
      await rig.deliver();
      return (await rig.state(bucket, id)).lastError;
    };
    receiver.answer = () => 302;
    await rig.store.put(bucket, "a", octets("a"));
    assert.equal(await lastError(), "The webhook answered 302, and redirects are not followed");
    const held = Promise.withResolvers<number>();
    receiver.answer = () => held.promise;
    assert.equal(await lastError(), "The webhook did not answer within 0.05 s");
    held.resolve(200);
    const { port } = new URL(receiver.url);
    const target = { kind: "webhook", url: `http://localhost:${port}/` } as const;
    await rig.notifications.edit(bucket, id, { target });
    await using strict = new Rig(db(), { policy: { allowed: ranges([]) } });
    clock += HOUR_MS;
    await strict.deliver();
    assert.match((await rig.state(bucket, id)).lastError!, /localhost: .* is an internal address/);
    for (const url of ["http://10.0.0.1/", "http://[::ffff:10.0.0.1]/", "http://[::ffff:a00:1]/"]) {
      const webhook = { kind: "webhook", url } as const;
      const edited = rig.notifications.edit(bucket, id, { target: webhook });
      await assert.rejects(edited, is("bad-notification"));
    }
  });

  test("under way when the server stops are not counted as failed, and come again", async () => {
    await using receiver = await WebhookReceiver.open();
    const asked = Promise.withResolvers<void>();
    const never = new Promise<number>(() => {});
    receiver.answer = () => {
      asked.resolve();
      return never;
    };
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url);
    await rig.store.put(bucket, "a", octets("a"));
    rig.delivery.start();
    await asked.promise;
    await rig.delivery[Symbol.asyncDispose]();
    const { waiting, failures } = await rig.state(bucket, id);
    assert.deepEqual({ waiting, failures }, { waiting: 1, failures: 0 });
    receiver.answer = () => 200;
    await using next = new Rig(db());
    await next.deliver();
    assert.deepEqual(receiver.keys, ["a"]);
  });

  test("are bounded: too many are given up, the oldest first, and too many of those lost", async () => {
    await using receiver = await WebhookReceiver.open();
    const outcomes = new Map<string, number>();
    await using rig = new Rig(db(), {
      bounds: { waiting: 4, failed: 2 },
      onOutcome: (outcome, events) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + events),
    });
    const [bucket, id] = await rig.bucket(receiver.url);
    for (let i = 0; i < 9; i++) await rig.store.put(bucket, `key-${i}`, octets("x"));
    receiver.answer = () => 503;
    await rig.deliver();
    const { waiting, failed, dropped } = await rig.state(bucket, id);
    assert.deepEqual({ waiting, failed, dropped }, { waiting: 4, failed: 2, dropped: 3 });
    const given = await rig.notifications.events(bucket, id, {
      isFailed: true,
      after: 0,
      limit: 9,
    });
    assert.deepEqual(
      given.map(({ key }) => key),
      ["key-3", "key-4"],
    );
    assert.ok(outcomes.get("dropped")! >= 3); // Other tests leave some, too.
    assert.equal(await rig.notifications.removeFailed(bucket, id), 2);
    assert.equal((await rig.state(bucket, id)).failed, 0);
  });

  test("are no more when their rule or bucket is gone, and none are written without rules", async () => {
    await using receiver = await WebhookReceiver.open();
    await using rig = new Rig(db());
    const [bucket, id] = await rig.bucket(receiver.url);
    await rig.store.put(bucket, "a", octets("a"));
    await rig.notifications.remove(bucket, id);
    await assert.rejects(rig.notifications.remove(bucket, id), is("no-such-notification"));
    await assert.rejects(rig.notifications.get(bucket, id), is("no-such-notification"));
    assert.equal((await rig.store.bucket(bucket.name)).notifications, 0);
    // Who still holds the bucket as it was writes no events either.
    await rig.store.put(bucket, "b", octets("b"));
    const [other] = await rig.bucket(receiver.url);
    await rig.store.put(other, "c", octets("c"));
    await rig.store.delete(other, ["c"]);
    await rig.store.deleteBucket(other.name);
    await rig.deliver();
    assert.deepEqual(receiver.received, []);
  });

  test("wait while another node has its turn, without a storm of signals", async () => {
    if (!db().shared) return;
    await using receiver = await WebhookReceiver.open();
    let signals = 0;
    const counted: Database = {
      ...wrapped(db(), (_, work) => work()),
      signal(topic, message) {
        signals++;
        db().signal(topic, message);
      },
    };
    const lease = { name: "bucket_events", holder: "another", seconds: 3_600 };
    assert.ok(await acquireLease(db(), lease, clock));
    await using one = new Rig(counted);
    await using two = new Rig(counted);
    const [bucket] = await one.bucket(receiver.url);
    await one.store.put(bucket, "a", octets("a"));
    for (const { delivery } of [one, two]) delivery.start();
    await until(() => signals >= 2);
    await setTimeout(300); // They would answer each other's signals in no time.
    assert.ok(signals <= 4, `${signals} signals`);
    assert.deepEqual(receiver.received, []);
    await releaseLease(db(), lease);
    clock += 60_000;
    for (const { delivery } of [one, two]) delivery.wake();
    await until(() => receiver.received.length === 1);
  });

  test("are told once by nodes that share a database, whoever wrote them", async () => {
    await using receiver = await WebhookReceiver.open();
    await using connections = new AsyncDisposableStack();
    const second = db().shared ? connections.use(await open()) : db();
    await using one = new Rig(db());
    await using two = new Rig(second);
    const [bucket, id] = await one.bucket(receiver.url);
    for (const { store, delivery } of [one, two]) {
      store.onEvents(() => delivery.wake());
      if (db().shared || delivery === one.delivery) delivery.start();
    }
    const keys = Array.from({ length: 200 }, (_, i) => `key-${i % 40}`);
    await Promise.all(
      keys.map((key, i) => [one, two][i % 2]!.store.put(bucket, key, octets(String(i)))),
    );
    if (!db().shared) one.delivery.wake();
    await until(async () => (await one.state(bucket, id)).waiting === 0);
    assert.equal(receiver.received.length, keys.length);
    const ids = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    assert.equal(ids.size, keys.length);
  });
});
