import assert from "node:assert/strict";
import { test } from "node:test";
import { Log } from "#kit/log.ts";
import { onBothEngines } from "../../../test/support/both-engines.ts";
import { until } from "../../../test/support/patience.ts";
import { memoryDriver } from "../drivers/memory.ts";
import { ObjectStore } from "../object-store.ts";
import { objectMigrations } from "../schema.ts";
import { ACCOUNT, accountsTable, is } from "../store.contract.ts";
import { BucketDomains } from "./bucket-domains.ts";
import { bucketDomainMigrations } from "./schema.ts";

const log = new Log({ format: "json", level: "error", now: Date.now, write: () => {} });
const ZONE = "c".repeat(32);
const zonesTable = {
  part: "zones",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE zones (id ${text} PRIMARY KEY)`,
    `INSERT INTO zones (id) VALUES ('${ZONE}')`,
  ],
};
const tables = [accountsTable, zonesTable, ...objectMigrations, ...bucketDomainMigrations];

onBothEngines("the domains of buckets", tables, (db, open) => {
  let made = 0;
  const freshBucket = async () => {
    const store = new ObjectStore({ db: db(), blobs: memoryDriver(Date.now), now: Date.now });
    return { store, bucket: await store.createBucket(ACCOUNT, `domains-${++made}`) };
  };
  const at = (hostname: string, enabled = true) => ({ hostname, zoneId: ZONE, enabled });

  test("are found while they are enabled, and listed by name", async () => {
    const domains = await BucketDomains.open(db());
    const { bucket } = await freshBucket();
    await domains.attach(bucket, at("b.example.com"));
    await domains.attach(bucket, at("a.example.com", false));
    assert.equal(domains.at("b.example.com")?.bucket, bucket.name);
    assert.equal(domains.at("a.example.com"), null);
    assert.equal(domains.at("c.example.com"), null);
    assert.deepEqual(
      (await domains.list(bucket)).map(({ hostname }) => hostname),
      ["a.example.com", "b.example.com"],
    );
    await domains.setEnabled(bucket, "a.example.com", true);
    await domains.remove(bucket, "b.example.com");
    assert.equal(domains.at("b.example.com"), null);
    assert.deepEqual(domains.enabled(), [{ ...at("a.example.com"), bucket: bucket.name }]);
    assert.deepEqual(await domains.get(bucket, "a.example.com"), domains.at("a.example.com"));
  });

  test("belong to one bucket each", async () => {
    const domains = await BucketDomains.open(db());
    const [one, other] = [(await freshBucket()).bucket, (await freshBucket()).bucket];
    await domains.attach(one, at("one.example.com"));
    await assert.rejects(domains.attach(other, at("one.example.com")), is("domain-taken"));
    await assert.rejects(domains.remove(other, "one.example.com"), is("no-such-domain"));
    await assert.rejects(domains.setEnabled(other, "one.example.com", false), is("no-such-domain"));
    await assert.rejects(domains.get(other, "one.example.com"), is("no-such-domain"));
    assert.equal(domains.at("one.example.com")?.bucket, one.name);
  });

  test("go with their bucket", async () => {
    const domains = await BucketDomains.open(db());
    const { store, bucket } = await freshBucket();
    await domains.attach(bucket, at("gone.example.com"));
    let heard = 0;
    domains.follow(() => heard++);
    store.onBucketRemoved(() => domains.removed());
    await store.deleteBucket(bucket.name);
    assert.equal(domains.at("gone.example.com"), null);
    assert.equal(heard, 1);
    await assert.rejects(domains.attach(bucket, at("gone.example.com")), is("no-such-bucket"));
  });

  test("are followed by every node that shares the database", async () => {
    if (!db().shared) return;
    await using other = await open();
    const here = await BucketDomains.open(db());
    const there = await BucketDomains.open(other);
    await using following = await there.followOthers(log);
    assert.ok(following);
    const { bucket } = await freshBucket();
    await here.attach(bucket, at("shared.example.com"));
    await until(() => there.at("shared.example.com") !== null);
    await here.remove(bucket, "shared.example.com");
    await until(() => there.at("shared.example.com") === null);
  });
});
