/** What is asked of every S3 server: the objects, the operations, and addresses that are signed for them. */
import type * as sdk from "../../test/clients/s3.ts";

export type S3Sdk = typeof sdk;

/** s3rver knows this one id, and is told to take any secret; ours must have 8 characters. */
export const KEY = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER/S3RVER" } as const;
export const REGION = "us-east-1";
export const BUCKET = "bench";

const KIB = 1024;
const MIB = 1024 * KIB;

export interface S3Size {
  readonly name: string;
  readonly octets: number;
  /** Objects there are to read, and keys that puts go to in turn. */
  readonly objects: number;
  /** Requests under way at once: the more octets, the fewer. */
  readonly atOnce: number;
  /** An interval in which several of them end, also on a slow machine. */
  readonly leastSeconds: number;
}

export const SIZES: readonly S3Size[] = [
  { name: "1 KiB", octets: KIB, objects: 256, atOnce: 32, leastSeconds: 1 },
  { name: "64 KiB", octets: 64 * KIB, objects: 256, atOnce: 32, leastSeconds: 1 },
  { name: "1 MiB", octets: MIB, objects: 64, atOnce: 32, leastSeconds: 1 },
  { name: "64 MiB", octets: 64 * MIB, objects: 4, atOnce: 4, leastSeconds: 6 },
];

/** A page of a list is full. */
const LISTED = 1_000;
const LIST_PREFIX = "listed/";
/** s3rver reads a file for each key that it lists. */
const PAGE: S3Size = { name: "page", octets: 0, objects: 1, atOnce: 4, leastSeconds: 5 };

export interface S3Workload {
  readonly key: string;
  readonly name: string;
  readonly action: "get" | "put" | "list";
  readonly size: S3Size;
}

export const workloads: readonly S3Workload[] = [
  ...SIZES.map((size) => workload("get", size)),
  ...SIZES.map((size) => workload("put", size)),
  { key: "list", name: "a page of 1,000 keys", action: "list", size: PAGE },
];

function workload(action: "get" | "put", size: S3Size): S3Workload {
  const key = `${action} ${size.octets}`;
  return { key, name: `${action.toUpperCase()} ${size.name}`, action, size };
}

export function keysOf({ action, size }: Pick<S3Workload, "action" | "size">): string[] {
  return Array.from({ length: size.objects }, (_, i) => `${action}/${size.octets}/${i}.bin`);
}

/** Not all alike, so that nothing on the way can shrink them. */
export function octetsOf(length: number): Buffer {
  const octets = Buffer.alloc(length);
  let state = 1;
  for (let i = 0; i + 4 <= length; i += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    octets.writeUInt32LE(state, i);
  }
  return octets;
}

/** Stores what is read and listed, through the server's own door. */
export async function fillBucket({ S3 }: S3Sdk, client: sdk.S3Client): Promise<void> {
  const { PutObjectCommand } = S3;
  for (const size of SIZES) {
    const Body = octetsOf(size.octets);
    await atOnce(keysOf({ action: "get", size }), size.atOnce, (Key) =>
      client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body })),
    );
  }
  const listed = Array.from({ length: LISTED }, (_, i) => LIST_PREFIX + i);
  await atOnce(listed, SIZES[0]!.atOnce, (Key) =>
    client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: "" })),
  );
}

/** Paths with signatures that hold for a bench's time; plain HTTP clients can ask for them. */
export async function signedPaths(
  { S3, getSignedUrl }: S3Sdk,
  client: sdk.S3Client,
  workload: S3Workload,
): Promise<string[]> {
  const asked =
    workload.action === "list"
      ? [new S3.ListObjectsV2Command({ Bucket: BUCKET, Prefix: LIST_PREFIX })]
      : keysOf(workload).map((Key) =>
          workload.action === "get"
            ? new S3.GetObjectCommand({ Bucket: BUCKET, Key })
            : new S3.PutObjectCommand({ Bucket: BUCKET, Key }),
        );
  return Promise.all(
    asked.map(async (command) => {
      // The SDK's types want one command here, and take any.
      const url = new URL(await getSignedUrl(client, command as never, { expiresIn: 86_400 }));
      return url.pathname + url.search;
    }),
  );
}

async function atOnce<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const todo = items.values();
  const worker = async () => {
    for (const item of todo) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
