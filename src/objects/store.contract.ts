/** Stores for tests: on each engine, with small limits and blobs in memory. */
import assert from "node:assert/strict";
import { atMost } from "#kit/at-once.ts";
import {
  type DefineOnEngine,
  onBothEngines as onEngines,
} from "../../test/support/both-engines.ts";
import type { BlobDriver } from "./driver.ts";
import { memoryDriver } from "./drivers/memory.ts";
import { ObjectFault, type ObjectFaultKind } from "./fault.ts";
import type { ObjectLimits } from "./limits.ts";
import type { Body, Bucket, ByteRange, GetResult } from "./model.ts";
import type { ObjectStore } from "./object-store.ts";
import { objectMigrations } from "./schema.ts";

export const ACCOUNT = "a".repeat(32);
export const OTHER_ACCOUNT = "b".repeat(32);

/** Small enough that short values are blobs and short parts are whole ones. */
export const smallLimits: Partial<ObjectLimits> = { inlineOctets: 8, leastPartOctets: 10 };

/** Buckets belong to accounts, whose tables are another part's. */
export const accountsTable = {
  part: "accounts",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY)`,
    `INSERT INTO accounts (id) VALUES ('${ACCOUNT}'), ('${OTHER_ACCOUNT}')`,
  ],
};

export type Engine = "sqlite" | "postgres";

/** On the tables of this part, and what they refer to of others. */
export function onBothEngines(name: string, define: DefineOnEngine): void {
  onEngines(name, [accountsTable, ...objectMigrations], define);
}

export const is = (kind: ObjectFaultKind) => (error: unknown) =>
  error instanceof ObjectFault && error.kind === kind;

export const octets = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Fewer at a time than a slow database keeps waiting for a connection until it gives up. */
export const SOME_AT_ONCE = 32;

/** Each key holds itself. */
export function putAll(store: ObjectStore, bucket: Bucket, keys: readonly string[]): Promise<void> {
  return atMost(
    SOME_AT_ONCE,
    keys,
    async (key) => void (await store.put(bucket, key, octets(key))),
  );
}

/** A body in the given pieces. */
export async function* inPieces(...pieces: readonly (string | Uint8Array)[]): Body {
  for (const piece of pieces) yield typeof piece === "string" ? octets(piece) : piece;
}

export async function read(body: Uint8Array | Body): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The octets that a get gave, as text. */
export async function textOf(result: GetResult): Promise<string> {
  assert.equal(result.kind, "found");
  return (await read(result.body)).toString();
}

/** Blobs in memory that cannot be read once they are deleted, open or not: as in a store far away. */
export function forgetfulDriver(now: () => number): BlobDriver {
  const kept = memoryDriver(now);
  return {
    put: (id, body) => kept.put(id, body),
    delete: (ids) => kept.delete(ids),
    list: () => kept.list(),
    [Symbol.asyncDispose]: async () => kept[Symbol.asyncDispose](),
    async open(id) {
      const blob = await kept.open(id);
      if (blob === null) return null;
      async function* read(range: ByteRange): Body {
        for await (const chunk of blob!.read(range)) {
          if ((await kept.open(id)) === null)
            throw new Error(`${id} was deleted while it was read`);
          yield chunk;
        }
      }
      return { ...blob, read };
    },
  };
}

export async function blobIds(blobs: BlobDriver): Promise<string[]> {
  return (await Array.fromAsync(blobs.list())).map(({ id }) => id).sort();
}
