/** Objects on a disk that fails, at every single call. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ObjectFault, ObjectStore } from "#objects";
import { type Disk, systemDisk } from "../../src/objects/drivers/disk.ts";
import { wrapped } from "../../src/objects/trouble.contract.ts";
import { checkSwept, readAll } from "../crash/objects-check.ts";
import { openObjects, type Opened, PART_OCTETS } from "../crash/objects-work.ts";

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-faults-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const isUnavailable = (error: unknown) =>
  error instanceof ObjectFault && error.kind === "unavailable";

type Call = Exclude<keyof Disk, "size" | "openAtOnce" | "leave">;
type Trouble = (call: Call, args: unknown[]) => Promise<unknown>;

const CALLS: readonly Call[] = [
  ...(["open", "read", "write", "syncData", "sync"] as const),
  ...(["close", "rename", "unlink", "writtenAt"] as const),
];

function onDisk(call: Call, args: unknown[]): Promise<unknown> {
  return (systemDisk[call] as (...args: unknown[]) => Promise<unknown>)(...args);
}

function fault(code: string): Error {
  return Object.assign(new Error(`${code}: as the test has it`), { code });
}

/** What becomes of the call that is due. */
const troubles: Readonly<Record<string, Trouble>> = {
  "a call that fails": async (call, args) => {
    if (call === "close") await onDisk(call, args); // A close that fails has closed.
    throw fault("EIO");
  },
  "a full disk": async (call, args) => {
    if (call === "open" || call === "write") throw fault("ENOSPC");
    return onDisk(call, args);
  },
  "a write cut short": (call, args) => {
    if (call !== "write") return onDisk(call, args);
    const [fd, octets, at] = args as [number, Uint8Array, number];
    return onDisk(call, [fd, octets.subarray(0, octets.length / 2), at]);
  },
};

/** The system's calls until the one that is due. */
function troubledDisk(trouble: Trouble) {
  const due = { in: Infinity };
  const calls = CALLS.map((call) => [
    call,
    (...args: unknown[]) => (--due.in === 0 ? trouble(call, args) : onDisk(call, args)),
  ]);
  const disk = { ...systemDisk, openAtOnce: () => null, ...Object.fromEntries(calls) } as Disk;
  return { disk, due };
}

for (const [name, trouble] of Object.entries(troubles)) {
  test(`${name}, at every step: a clear fault, nothing lost, nothing left, and the store goes on`, async (t) => {
    const folder = await folderFor(t);
    const { disk, due } = troubledDisk(trouble);
    await using opened = await openObjects(folder, disk);
    await story(opened); // Starts the thread that hashes, which has files open as long as the store.
    const atFirst = await openFiles();
    for (let step = 1, hasCome = true; hasCome; step++) {
      due.in = step;
      const expected = await story(opened);
      hasCome = due.in <= 0;
      due.in = Infinity;
      for (const [key, values] of expected) {
        const got = await opened.store.get(opened.bucket, key);
        const value = got.kind === "missing" ? null : (await readAll(got)).toString("base64");
        assert.ok(values.has(value), `${key} after trouble at step ${step}`);
      }
      await checkSwept(opened, folder);
      await opened.store.delete(opened.bucket, [...expected.keys()]);
    }
    await checkSwept(opened, folder);
    for (let i = 0; i < 100 && (await openFiles()) > atFirst; i++); // They are closed in the background.
    assert.ok((await openFiles()) <= atFirst, "files are still open");
  });
}

async function openFiles(): Promise<number> {
  return (await readdir("/proc/self/fd")).length;
}

/** Does some of everything, and tells which octets each key may have in the end. */
async function story({ store, bucket }: Opened): Promise<Map<string, Set<string | null>>> {
  const values = new Map<string, Set<string | null>>();
  const attempt = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      assert.ok(isUnavailable(error), String((error as Error).stack));
      return null;
    }
  };
  const change = async (key: string, octets: Buffer | null, work: () => Promise<unknown>) => {
    const value = octets?.toString("base64") ?? null;
    const done = await attempt(async () => (await work(), true));
    const before = done === true ? [] : (values.get(key) ?? [null]);
    values.set(key, new Set([...before, value]));
  };
  const put = (key: string, octets: Buffer) =>
    change(key, octets, () => store.put(bucket, key, octets));
  await put("small", randomBytes(100));
  await put("a", randomBytes(600_000));
  await put("a", randomBytes(140_000));
  await put("b", randomBytes(140_000));
  await attempt(async () => readAll(await store.get(bucket, "a")));
  const { uploadId } = await store.createUpload(bucket, "c");
  const pieces = [randomBytes(PART_OCTETS), randomBytes(PART_OCTETS)];
  const parts = await Promise.all(
    pieces.map((octets, i) =>
      attempt(() => store.uploadPart(bucket, "c", uploadId, i + 1, octets)),
    ),
  );
  const there = parts.filter((part) => part !== null);
  if (there.length < 2) await store.abortUpload(bucket, "c", uploadId);
  else {
    await change("c", Buffer.concat(pieces), () =>
      store.completeUpload(bucket, "c", uploadId, there, { evenParts: true }),
    );
  }
  await change("b", null, () => store.delete(bucket, ["b"]));
  await attempt(() => store.sweep());
  return values;
}

test("a row is written when the octets of its blob and their name are on disk, not before", async (t) => {
  const folder = await folderFor(t);
  const events: string[] = [];
  const told = (call: Call) => [
    call,
    async (...args: unknown[]) => {
      const result = await onDisk(call, args);
      events.push(call);
      return result;
    },
  ];
  const calls = (["write", "rename", "syncData", "sync"] as const).map(told);
  const disk = { ...systemDisk, ...Object.fromEntries(calls) } as Disk;
  await using opened = await openObjects(folder, disk);
  const { blobs, bucket } = opened;
  const db = wrapped(opened.db, async (call, work) => {
    if (call === "write") events.push("row");
    return work();
  });
  const store = new ObjectStore({ db, blobs, now: Date.now });
  const { uploadId } = await store.createUpload(bucket, "b");
  for (const write of [
    () => store.put(bucket, "a", randomBytes(1_000_000)),
    () => store.uploadPart(bucket, "b", uploadId, 1, randomBytes(1_000_000)),
  ]) {
    events.length = 0;
    await write();
    assert.deepEqual(events.slice(-3).sort(), ["row", "sync", "syncData"]);
    assert.equal(events.at(-1), "row");
    assert.equal(events.indexOf("rename"), events.length - 4);
  }
});
