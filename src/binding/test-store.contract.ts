/** A store for the tests of this part: a database of either engine, blobs in files. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountMigrations, Accounts, bootstrap, Recent } from "#accounts";
import { migrate, openDatabase } from "#db";
import { objectMigrations, ObjectStore, openBlobs } from "#objects";
import { freshPostgresUrl } from "../../test/support/postgres.ts";
import type { OpenBuckets } from "./store-bucket.contract.ts";
import { bucketOver } from "./store-bucket.ts";
import type { StoreTransport } from "./protocol.ts";

export interface TestStore extends AsyncDisposable {
  readonly store: ObjectStore;
  readonly accountId: string;
  readonly folder: string;
}

export async function openTestStore(
  engine: "sqlite" | "postgres",
  now: () => number = Date.now,
): Promise<TestStore> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-binding-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
  const db = opened.use(await openDatabase({ url, dataDir: folder, onError: assert.fail }));
  await migrate(db, [...accountMigrations, ...objectMigrations], {
    holder: "test",
    now,
    sleep: async () => {},
  });
  await bootstrap(db, { dataDir: folder, sealKey: randomBytes(32), now, wishes: {} });
  const blobs = opened.use(await openBlobs({ url: "file:", dataDir: folder, environment: {} }));
  const store = opened.use(new ObjectStore({ db, blobs, now }));
  const { id: accountId } = await new Accounts(db, new Recent(now), now).first();
  const all = opened.move();
  return { store, accountId, folder, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Buckets of that store, reached by the transports that are made for their names. */
export function bucketsOf(
  { store, accountId }: TestStore,
  transportTo: (bucketName: string) => StoreTransport,
): Omit<OpenBuckets, typeof Symbol.asyncDispose> {
  let made = 0;
  return {
    async fresh(compatibility) {
      const name = `bucket-${++made}`;
      await store.createBucket(accountId, name);
      return bucketOver(transportTo(name), compatibility);
    },
    missing: bucketOver(transportTo("no-such-bucket")),
  };
}
