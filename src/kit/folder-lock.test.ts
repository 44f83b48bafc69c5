import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lockFolder } from "./folder-lock.ts";

test("a folder has one holder at a time", () => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-lock-"));
  const first = lockFolder(folder, "it is taken");
  assert.throws(() => lockFolder(folder, "it is taken"), /^Error: it is taken$/);
  first[Symbol.dispose]();
  lockFolder(folder, "it is taken")[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});
