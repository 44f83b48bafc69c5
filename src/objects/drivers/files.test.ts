import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test, type TestContext } from "node:test";
import { randomId } from "#kit/random.ts";
import {
  blobDriverContract,
  bodyOf,
  failing,
  gather,
  idsOf,
  readBlob,
} from "../driver.contract.ts";
import { ObjectFault } from "../fault.ts";
import type { Body } from "../model.ts";
import { type Disk, systemDisk } from "./disk.ts";
import { openFiles } from "./files.ts";

const scratch = await mkdtemp(join(tmpdir(), "selvedge-blobs-"));
after(() => rm(scratch, { recursive: true }));

blobDriverContract("files", () => openFiles(join(scratch, "contract")), {
  readsDeleted: true,
  keepsInMemory: false,
});

/** A driver on a folder of its own, with calls to the disk replaced. */
async function opened(t: TestContext, replaced: Partial<Disk> = {}) {
  const root = join(scratch, randomId());
  const driver = await openFiles(root, { ...systemDisk, ...replaced });
  t.after(() => driver[Symbol.asyncDispose]());
  return { root, driver };
}

const fault = (code: string) => Object.assign(new Error(`${code}: as the test has it`), { code });
const isUnavailable = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ObjectFault);
  assert.equal(error.kind, "unavailable");
  assert.match(error.message, new RegExp(code));
  return true;
};

/** The files of a folder that are neither folders nor its lock. */
async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath !== root)
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
}

test("a blob is a file under its id, for the owner alone", async (t) => {
  const { root, driver } = await opened(t);
  await driver.put("abcdef0123456789", bodyOf(Buffer.from("octets")));
  const path = join(root, "ab", "cdef0123456789");
  assert.equal(await readFile(path, "utf8"), "octets");
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(join(root, "ab"))).mode & 0o777, 0o700);
  assert.deepEqual(await filesIn(root), ["ab/cdef0123456789"]);
});

test("blobs are there after a new start, drafts and strange files are not", async () => {
  const root = join(scratch, randomId());
  const id = randomId();
  {
    await using driver = await openFiles(root);
    await driver.put(id, bodyOf(Buffer.from("kept")));
  }
  await writeFile(join(root, "new", randomId()), "of a crash");
  await writeFile(join(root, "ab", "README"), "of a person");
  await mkdir(join(root, "lost+found"));
  await rm(join(root, "cd"), { recursive: true });
  await using driver = await openFiles(root);
  assert.deepEqual([...(await idsOf(driver))], [id]);
  assert.equal((await readBlob(driver, id)).toString(), "kept");
  assert.deepEqual(await readdir(join(root, "new")), []);
  await driver.put(`cd${randomId()}`, bodyOf(Buffer.from("a folder was missing")));
});

test("a folder is used by one driver at a time", async () => {
  const root = join(scratch, randomId());
  {
    await using driver = await openFiles(root);
    assert.ok(driver);
    await assert.rejects(openFiles(root), { message: /another Selvedge is running on it/ });
  }
  await (await openFiles(root))[Symbol.asyncDispose]();
});

test("a folder that cannot be used is told of at the start", async () => {
  const file = join(scratch, randomId());
  await writeFile(file, "");
  await assert.rejects(openFiles(file), { message: /^Cannot use the folder .*EEXIST/ });
  const root = join(scratch, randomId());
  const readOnly: Disk = { ...systemDisk, open: () => Promise.reject(fault("EROFS")) };
  await assert.rejects(openFiles(root, readOnly), { message: /^Cannot use the folder .*EROFS/ });
  await (await openFiles(root))[Symbol.asyncDispose](); // The lock was given back.
});

suite("a put that the disk refuses leaves nothing, and the next succeeds:", () => {
  /** Works until the fault is set off, which is for one call. */
  const cases: [name: string, replace: (isDue: () => boolean) => Partial<Disk>, code: string][] = [
    [
      "the disk is full when the file is made",
      (isDue) => ({
        open: async (path, flags, mode) => {
          if (path.includes("/new/") && isDue()) throw fault("ENOSPC");
          return systemDisk.open(path, flags, mode);
        },
      }),
      "ENOSPC",
    ],
    [
      "the disk is full after half a write",
      (isDue) => {
        let isFull = false;
        return {
          write: async (fd, bytes, at) => {
            if (isFull) {
              isFull = false;
              throw fault("ENOSPC");
            }
            isFull = isDue();
            return systemDisk.write(fd, isFull ? bytes.subarray(0, bytes.length / 2) : bytes, at);
          },
        };
      },
      "ENOSPC",
    ],
    [
      "nothing is written",
      (isDue) => ({ write: async (...to) => (isDue() ? 0 : systemDisk.write(...to)) }),
      "nothing was written",
    ],
    ...(["syncData", "sync", "rename"] as const).map(
      (call): [string, (isDue: () => boolean) => Partial<Disk>, string] => [
        `${call} fails`,
        (isDue) => ({
          [call]: async (...to: never[]) => {
            if (isDue()) throw fault("EIO");
            return (systemDisk[call] as (...to: never[]) => Promise<void>)(...to);
          },
        }),
        "EIO",
      ],
    ),
  ];
  for (const [name, replace, code] of cases) {
    test(name, async (t) => {
      let isSet = false;
      const isDue = () => isSet && !(isSet = false);
      const { root, driver } = await opened(t, replace(isDue));
      const id = randomId();
      const bytes = randomBytes(2_000_000);
      isSet = true;
      await assert.rejects(driver.put(id, bodyOf(bytes)), isUnavailable(code));
      assert.equal(isSet, false, "the fault was not met");
      assert.deepEqual(await filesIn(root), []);
      assert.equal(await driver.open(id), null);
      await driver.put(id, bodyOf(bytes));
      assert.ok((await readBlob(driver, id)).equals(bytes));
    });
  }
});

test("a body is returned when the disk refuses it", async (t) => {
  let isReturned = false;
  const { driver } = await opened(t, { write: () => Promise.reject(fault("ENOSPC")) });
  const body = async function* () {
    try {
      for (;;) yield randomBytes(1_000_000);
    } finally {
      isReturned = true;
    }
  };
  await assert.rejects(driver.put(randomId(), body()), isUnavailable("ENOSPC"));
  assert.ok(isReturned);
});

test("writes and reads that do less than they were asked for are gone on with", async (t) => {
  const some = (bytes: Uint8Array) => bytes.subarray(0, Math.ceil(bytes.length / 3));
  const { driver } = await opened(t, {
    write: (fd, bytes, at) => systemDisk.write(fd, some(bytes), at),
    read: (fd, into, at) => systemDisk.read(fd, some(into), at),
  });
  const bytes = randomBytes(1_500_000);
  const id = randomId();
  await driver.put(id, bodyOf(bytes.subarray(0, 100), bytes.subarray(100)));
  assert.ok((await readBlob(driver, id)).equals(bytes));
});

test("a blob that cannot be opened, read or deleted is a fault, and others are served", async (t) => {
  let code: string | null = null;
  const unless = <A extends unknown[], T>(call: (...to: A) => Promise<T>) => {
    return async (...to: A) => {
      if (code !== null) throw fault(code);
      return call(...to);
    };
  };
  const { root, driver } = await opened(t, {
    open: unless(systemDisk.open),
    openAtOnce: () => null,
    read: unless(systemDisk.read),
    unlink: unless(systemDisk.unlink),
    writtenAt: unless(systemDisk.writtenAt),
  });
  const id = randomId();
  await driver.put(id, bodyOf(randomBytes(1_000)));
  const blob = (await driver.open(id))!;
  code = "EIO";
  await assert.rejects(gather(blob.read({ offset: 0, length: 1_000 })), isUnavailable("EIO"));
  await assert.rejects(driver.open(id), isUnavailable("EIO"));
  await assert.rejects(driver.delete([id]), isUnavailable("EIO"));
  await assert.rejects(idsOf(driver), isUnavailable("EIO"));
  code = null;
  assert.equal((await readBlob(driver, id)).length, 1_000);
  const short = (await driver.open(id))!;
  await truncate(join(root, id.slice(0, 2), id.slice(2)), 500);
  await assert.rejects(
    gather(short.read({ offset: 0, length: 1_000 })),
    isUnavailable("after 500"),
  );
});

async function leaveEarly(body: Body): Promise<void> {
  for await (const chunk of body) if (chunk.length > 0) break;
}

test("no way to read or write leaves a file open", async (t) => {
  const { driver } = await opened(t);
  const id = randomId();
  await driver.put(id, bodyOf(randomBytes(2_000_000)));
  const openFds = async () => (await readdir("/proc/self/fd")).length;
  const atFirst = await openFds();
  const whole = { offset: 0, length: 2_000_000 };
  for (let i = 0; i < 20; i++) {
    await readBlob(driver, id);
    await readBlob(driver, id, { offset: 5, length: 0 });
    await (await driver.open(id))![Symbol.asyncDispose]();
    await (await driver.open(id))!.read(whole)[Symbol.asyncIterator]().return?.();
    await leaveEarly((await driver.open(id))!.read(whole));
    const closedMidway = (await driver.open(id))!;
    const reading = closedMidway.read(whole)[Symbol.asyncIterator]();
    await Promise.all([reading.next(), closedMidway[Symbol.asyncDispose]()]);
    await assert.rejects(reading.next(), isUnavailable("closed"));
    await assert.rejects(driver.put(randomId(), failing([randomBytes(600_000)], new Error("cut"))));
    await driver.put(randomId(), bodyOf(randomBytes(10)));
  }
  // Files are closed in the background; each look takes its turn behind those.
  for (let i = 0; i < 100 && (await openFds()) > atFirst; i++);
  assert.ok((await openFds()) <= atFirst, "files are still open");
});
