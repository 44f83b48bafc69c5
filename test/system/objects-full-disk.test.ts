/** Objects on a disk that is really full: a small one in memory, mounted where only the test sees it. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runProgram } from "../support/program.ts";

const FILLER = fileURLToPath(new URL("../crash/objects-full.ts", import.meta.url));

/** A mount that nobody else sees, and that goes with the program. Who is not root becomes it for this. */
const IN_SMALL_DISK = [
  "--mount",
  ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
  "sh",
  "-c",
  'mount -t tmpfs -o size=20m tmpfs "$0" && exec "$@"',
];

const mayMount = async (folder: string) =>
  (await runProgram("unshare", [...IN_SMALL_DISK, folder, "true"])).code === 0;

const cases = [
  { name: "values that lie in rows", size: 60_000, writers: 4 },
  { name: "small values", size: 500, writers: 64 },
  { name: "blobs, many at once", size: 140_000, writers: 32 },
  { name: "large blobs", size: 3_000_000, writers: 2 },
];

for (const { name, size, writers } of cases) {
  test(`a full disk refuses ${name} in clear words, keeps what it has, and works when there is room`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-full-"));
    t.after(() => rm(folder, { recursive: true }));
    if (!(await mayMount(folder))) return t.skip("nothing can be mounted here");
    const program = [process.execPath, FILLER, folder, String(size), String(writers)];
    const { code, stdout, stderr } = await runProgram("unshare", [
      ...IN_SMALL_DISK,
      folder,
      ...program,
    ]);
    assert.equal(code, 0, stdout + stderr);
  });
}
