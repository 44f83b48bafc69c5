/** `kill -9` while objects are written: nothing that was acknowledged is lost, nothing is half there or left over. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openStore } from "../../src/store.ts";
import { crashObjects } from "../crash/objects.ts";
import { runProgram } from "../support/program.ts";

test("kill -9 during writes of objects loses nothing acknowledged and leaves no blob behind", async () => {
  const { acknowledged, inFlight } = await crashObjects(4, 20_261_121);
  assert.ok(acknowledged > 60, `${acknowledged} were acknowledged`);
  assert.ok(inFlight > 10, `${inFlight} were cut off`);
});

test("a folder is one process's: another one is told so, in this process and from outside", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "selvedge-lock-"));
  t.after(() => rm(data, { recursive: true }));
  const taken = `Cannot use ${data} (--data): another Selvedge is running on it.`;
  {
    await using store = await openStore({ data });
    await (await store.createBucket("mine")).put("key", "value");
    await assert.rejects(openStore({ data }), { message: taken });
    const module = fileURLToPath(new URL("../../src/store.ts", import.meta.url));
    const program = `import { openStore } from ${JSON.stringify(module)};
      await openStore({ data: ${JSON.stringify(data)} });`;
    const { code, stderr } = await runProgram(process.execPath, [
      "--input-type=module",
      "--eval",
      program,
    ]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(taken), stderr);
    assert.equal(await (await store.bucket("mine").get("key"))?.text(), "value");
  }
  await using again = await openStore({ data });
  assert.equal(await (await again.bucket("mine").get("key"))?.text(), "value");
});
