import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lockFolder } from "./folder-lock.ts";

test("a folder has one holder at a time", () => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-lock-"));
  const first = lockFolder(folder);
  assert.throws(() => lockFolder(folder), /another Selvedge is running on it/);
  first[Symbol.dispose]();
  lockFolder(folder)[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});
