import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Binding } from "#scripts";
import { scriptOf } from "../../test/support/script-runtime.ts";
import type { Outcome } from "./in-workerd.contract.ts";
import { bucket, openScriptBuckets } from "./script-buckets.contract.ts";
import type { Compatibility } from "./store-bucket.ts";

suite("the contract of the bucket inside workerd", async () => {
  /** Dates at which a script's buckets behave like this, and more buckets than the tests open there. */
  const dates: readonly [date: string, Omit<Compatibility, "keepsDelimiter">, buckets: number][] = [
    ["2025-12-02", { honorsInclude: true, showsAbsent: false }, 600],
    ["2026-11-01", { honorsInclude: true, showsAbsent: true }, 10],
    ["2022-08-03", { honorsInclude: false, showsAbsent: false }, 10],
  ];
  const opened = await openScriptBuckets({ memoryMib: 1024 }); // The tests hold large values whole.
  after(() => opened[Symbol.asyncDispose]());
  const { scripts, store, accountId } = opened;
  const source = await contractModule();
  for (const [date, compatibility, buckets] of dates) {
    const bindings: Binding[] = [
      { type: "json", name: "COMPATIBILITY", json: compatibility },
      bucket("MISSING", "no-such-bucket"),
      bucket("KEEPS_DELIMITER", `keeps-${date}`, true),
    ];
    await store.createBucket(accountId, `keeps-${date}`);
    for (let i = 0; i < buckets; i++) {
      const name = `bucket-${date}-${i}`;
      await store.createBucket(accountId, name);
      bindings.push(bucket(`BUCKET_${i}`, name));
    }
    const flags = ["nodejs_compat", "nodejs_compat_v2"];
    scripts.put(scriptOf(date, source, { date, bindings, flags, accountId }));
  }
  const names = JSON.parse(await scripts.text(dates[0]![0])) as string[];
  assert.ok(names.length > 50);
  for (const [index, name] of names.entries()) {
    test(name, async () => {
      for (const [date] of dates) {
        const answer = await scripts.text(date, `/?test=${index}`);
        const { needs, failure } = JSON.parse(answer) as Outcome;
        if (needs !== undefined) continue;
        if (failure !== undefined) assert.fail(failure);
        return;
      }
      assert.fail("no script has the compatibility that it needs");
    });
  }
});

/** The script that runs the contract: its tests are kept, and run when asked for. */
async function contractModule(): Promise<string> {
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [here("./in-workerd.contract.ts")],
    alias: {
      "node:test": here("./node-test.contract.ts"),
      "node:assert/strict": here("./node-assert.contract.ts"),
    },
    external: ["node:*"],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}
