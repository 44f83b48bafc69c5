/** Caches of several threads on one folder: the disk is shared, the ledger is one. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { until } from "../../../test/support/patience.ts";
import { DiskLedger } from "./disk-ledger.ts";
import { DiskStore } from "./disk-store.ts";
import { ledgerThrough, serveLedger } from "./ledger-port.ts";
import { World } from "./origin.contract.ts";

const folder = await mkdtemp(join(tmpdir(), "selvedge-cache-"));
after(() => rm(folder, { recursive: true }));

test("what one thread has stored another finds, and the one ledger counts and clears for all", async () => {
  const limitOctets = 40 * 4096;
  const ledger = new DiskLedger({ folder, limitOctets, onError: assert.fail });
  using ports = new DisposableStack();
  const thread = async () => {
    const channel = new MessageChannel();
    ports.defer(() => channel.port1.close());
    serveLedger(ledger, channel.port1);
    const disk = await DiskStore.open(folder, ledgerThrough(channel.port2));
    return new World({ headers: { "Cache-Control": "max-age=60" }, body: "b" }, { disk });
  };
  const [one, other] = [await thread(), await thread()];
  await one.get("/a");
  await until(() => ledger.size === 1);
  assert.equal((await other.get("/a")).cache, "HIT");
  assert.equal(other.fetches.length, 0);
  for (let i = 0; i < 60; i++) await (i % 2 === 0 ? one : other).get(`/${i}`);
  await until(async () => ledger.size === 40 && (await countFiles()) === 40);
});

async function countFiles(): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
