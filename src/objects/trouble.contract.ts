/** Trouble for tests: a database and blobs whose calls fail when they are told to. */
import { type Database, DatabaseFault } from "#db";
import type { BlobDriver } from "./driver.ts";

export type Around = <T>(call: string, work: () => Promise<T>) => Promise<T>;
export type Trouble = (at: number) => { readonly around: Around; readonly hasCome: () => boolean };

const failed = (call: string) =>
  call.startsWith("blob") ? new Error(`${call} failed`) : new DatabaseFault("unavailable", call);

export const troubles: Readonly<Record<string, Trouble>> = {
  "a crash": (at) => {
    let calls = 0;
    const around: Around = async (call, work) => {
      if (++calls >= at) throw failed(call);
      return work();
    };
    return { around, hasCome: () => calls >= at };
  },
  "a call that fails": (at) => {
    let calls = 0;
    const around: Around = async (call, work) => {
      if (++calls === at) throw failed(call);
      return work();
    };
    return { around, hasCome: () => calls >= at };
  },
  "a call whose answer is lost": (at) => {
    let calls = 0;
    const around: Around = async (call, work) => {
      const isLost = ++calls === at;
      const result = await work();
      if (isLost) throw failed(call);
      return result;
    };
    return { around, hasCome: () => calls >= at };
  },
};

export function wrapped(db: Database, around: Around): Database {
  return {
    engine: db.engine,
    shared: db.shared,
    types: db.types,
    all: (query) => around("all", () => db.all(query)),
    first: (query) => around("first", () => db.first(query)),
    scan: (query) => db.scan(query),
    write: (...steps) => around("write", () => db.write(...steps)),
    writeAll: (steps) => around("writeAll", () => db.writeAll(steps)),
    signal: (topic, message) => db.signal(topic, message),
    onSignal: (topic, hear) => db.onSignal(topic, hear),
    portForThread: () => db.portForThread(),
    ping: () => db.ping(),
    [Symbol.asyncDispose]: async () => {},
  };
}

export function wrappedBlobs(blobs: BlobDriver, around: Around): BlobDriver {
  return {
    put: (id, body) => around("blob put", () => blobs.put(id, body)),
    open: (id) => around("blob open", () => blobs.open(id)),
    delete: (ids) => around("blob delete", () => blobs.delete(ids)),
    async *list() {
      yield* await around("blob list", () => Array.fromAsync(blobs.list()));
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
