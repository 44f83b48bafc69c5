/** Every example runs as it stands, and says what it should. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { mustRun } from "../support/program.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));

test("examples/store puts, gets, lists and uploads in an embedded store", async () => {
  const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  const expected = [
    "put 2026/spring/tulip.txt: 11 bytes, etag 45d93295e1fb3a82c1965e29b14f1274",
    'get 2026/spring/tulip.txt, 3 bytes from 2: "red"',
    "conditional put of cover.txt: 1 of 2 writers won",
    "folders of 2026/: 2026/autumn, 2026/spring; 0 objects",
    "multipart film.bin: 10486760 bytes of 3 parts, c1030a019d25adb41cc70d807a1d8e24-3",
  ];
  try {
    // Twice on one folder: the second run finds what the first has left.
    for (const args of [[data], [data], []]) {
      const said = await mustRun(process.execPath, [join(EXAMPLES, "store/main.ts"), ...args]);
      const lines = said.trimEnd().split("\n");
      assert.deepEqual(lines, expected);
    }
  } finally {
    await rm(data, { recursive: true });
  }
});
