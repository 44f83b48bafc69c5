import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../../test/support/patience.ts";
import { isKnownPlatform } from "./libc.ts";
import { openAtOnce } from "./open-at-once.ts";

const folder = fs.mkdtempSync(join(tmpdir(), "selvedge-open-"));
after(() => fs.rmSync(folder, { recursive: true }));

test(
  "a file that the system knows is opened at once, to be read, and for no child",
  { skip: !isKnownPlatform },
  async () => {
    const path = join(folder, "ünknown");
    fs.writeFileSync(path, "octets");
    let fd: number | null = null;
    await until(() => (fd = openAtOnce(path)) !== null);
    assert.equal(fs.readFileSync(fd!, "utf8"), "octets");
    assert.throws(() => fs.writeSync(fd!, "x"), { code: "EBADF" });
    const seen = spawnSync("ls", ["-l", "/proc/self/fd"], { encoding: "utf8" }).stdout;
    assert.doesNotMatch(seen, /selvedge-open-/);
    fs.closeSync(fd!);
    assert.equal(openAtOnce(join(folder, "absent")), null);
  },
);
