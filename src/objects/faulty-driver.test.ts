import assert from "node:assert/strict";
import { test } from "node:test";
import { blobDriverContract, bodyOf, gather, idsOf, readBlob } from "./driver.contract.ts";
import { memoryDriver } from "./drivers/memory.ts";
import { FaultyDriver } from "./faulty-driver.contract.ts";

blobDriverContract("a faulty driver without faults", async () => new FaultyDriver(memoryDriver()), {
  readsDeleted: true,
  keepsInMemory: true,
});

const ID = "0123456789abcdef";
const octets = Buffer.from("octets of a blob");
const put = (driver: FaultyDriver) => driver.put(ID, bodyOf(octets));
const unavailable = { name: "ObjectFault", kind: "unavailable" };

test("the call that shall fail fails, before or after its work", async () => {
  const driver = new FaultyDriver(memoryDriver());
  driver.fail("put", { nth: 2 });
  driver.failAfter("put", { nth: 3, error: new Error("who knows") });
  await put(driver);
  await driver.delete([ID]);
  await assert.rejects(put(driver), unavailable);
  assert.equal(await driver.open(ID), null);
  await assert.rejects(put(driver), { message: "who knows" });
  assert.deepEqual(await readBlob(driver, ID), octets);
  assert.equal(driver.calls("put"), 3);
});

test("bodies are cut where they shall be", async () => {
  const driver = new FaultyDriver(memoryDriver());
  driver.cut("put", 3);
  await assert.rejects(put(driver), unavailable);
  assert.deepEqual([...(await idsOf(driver))], []);
  await put(driver);
  driver.cut("read", 3);
  const blob = (await driver.open(ID))!;
  const found: Uint8Array[] = [];
  await assert.rejects(async () => {
    for await (const chunk of blob.read({ offset: 0, length: blob.size })) found.push(chunk);
  }, unavailable);
  assert.equal(Buffer.concat(found).toString(), "oct");
});

test("a call that is held goes on when it is released", async () => {
  const driver = new FaultyDriver(memoryDriver());
  await put(driver);
  const held = driver.hold("read");
  const blob = (await driver.open(ID))!;
  const reading = gather(blob.read({ offset: 0, length: blob.size }));
  await held.reached;
  await driver.delete([ID]);
  held.release();
  assert.deepEqual(await reading, octets);
});
