/** A store in this process: the database and the blobs of a data folder, without a server. */
import { resolve } from "node:path";
import { Accounts, Recent } from "#accounts";
import { bucketOver, localTransport, storeErrors } from "#binding";
import { ObjectFault, ObjectStore, openBlobs } from "#objects";
import { openGround } from "./ground.ts";
import type { EmbeddedStore, OpenStoreOptions, StoreBucket } from "./store.ts";

/** The objects of a data folder, which this process has to itself until they are closed. */
export interface LocalObjects extends AsyncDisposable {
  readonly store: ObjectStore;
  /** The first account, which has all that is made here. */
  readonly accountId: string;
}

export async function openEmbedded(options: OpenStoreOptions): Promise<EmbeddedStore> {
  await using opened = new AsyncDisposableStack();
  const { store, accountId } = opened.use(await openLocalObjects(options));
  return embedded(store, accountId, opened.move());
}

export async function openLocalObjects({
  data,
  onError = (error) => process.emitWarning(error as Error),
}: OpenStoreOptions): Promise<LocalObjects> {
  const now = Date.now;
  const dataDir = resolve(data);
  await using opened = new AsyncDisposableStack();
  const { db } = opened.use(
    await openGround({
      dataDir,
      databaseUrl: "sqlite:",
      secretKey: process.env["SELVEDGE_SECRET_KEY"] || null,
      firstCredentials: {},
      now,
      onError,
    }),
  );
  const blobs = opened.use(await openBlobs({ url: "file:", dataDir, environment: {} }));
  const store = opened.use(new ObjectStore({ db, blobs, now }));
  store.startSweeping({ onError });
  const { id: accountId } = await new Accounts(db, new Recent(now), now).first();
  const all = opened.move();
  return { store, accountId, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function embedded(
  store: ObjectStore,
  accountId: string,
  opened: AsyncDisposableStack,
): EmbeddedStore {
  const work = new Work();
  const close = async () => {
    await work.end();
    await opened.disposeAsync();
  };
  const bucket = (name: string): StoreBucket => {
    const transport = localTransport(store, name);
    return bucketOver({
      send: (request, body) => work.do(() => transport.send(request, body)),
    });
  };
  return {
    bucket,
    createBucket: async (name, options) => {
      await work.do(() =>
        worded("createBucket", () => store.createBucket(accountId, name, options)),
      );
      return bucket(name);
    },
    buckets: () =>
      work.do(async () => {
        const all = await store.buckets([accountId]);
        return all.map(({ name, createdAt, storageClass }) => ({
          name,
          created: new Date(createdAt),
          storageClass,
        }));
      }),
    deleteBucket: (name) => work.do(() => worded("deleteBucket", () => store.deleteBucket(name))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is under way, which a close waits for. */
class Work {
  readonly #open = new Set<Promise<unknown>>();
  #isOver = false;

  async do<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw new Error("The store is closed");
    const done = work();
    this.#open.add(done);
    try {
      return await done;
    } finally {
      this.#open.delete(done);
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#open);
  }
}

/** Faults as the bucket's own methods tell them. */
async function worded<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ObjectFault)) throw error;
    const { code, message } = storeErrors[error.kind];
    throw new Error(`${action}: ${message ?? error.message} (${code})`, { cause: error });
  }
}
