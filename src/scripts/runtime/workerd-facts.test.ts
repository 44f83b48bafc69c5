/** What we hold to be true of the workerd that we run: a newer one may differ. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { workerdPath } from "./binary.ts";
import { EXPERIMENTAL_FLAGS, NEWEST_DATE } from "./compatibility.ts";

/** What workerd says of a worker with these flags; it is not started. */
function complaintsAbout(date: string, flags: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-facts-"));
  try {
    const config = `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (services = [(name = "main", worker = (
        modules = [(name = "main.js", esModule = "throw 1;")],
        compatibilityDate = "${date}", compatibilityFlags = ${JSON.stringify(flags)}))]);`;
    writeFileSync(join(folder, "config.capnp"), config);
    const { stderr } = spawnSync(workerdPath(), ["serve", join(folder, "config.capnp")], {
      encoding: "utf8",
      timeout: 30_000,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 28,
    });
    return stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the experimental flags are those that we refuse", () => {
  // Every word of the program that could be the name of a flag is offered to it.
  const program = readFileSync(workerdPath(), "latin1");
  const words = new Set(program.match(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g));
  const complaints = complaintsAbout("2026-11-01", [...words, "experimental"]);
  const found = [...complaints.matchAll(/flag (\S+) is experimental/g)].map(([, flag]) => flag!);
  assert.deepEqual(found.sort(), [...EXPERIMENTAL_FLAGS].sort());
});

test("the newest compatibility date is the one that we give", () => {
  const complaints = complaintsAbout("2099-01-01", []);
  assert.equal(/newest date supported .* is "([\d-]+)"/.exec(complaints)?.[1], NEWEST_DATE);
});
