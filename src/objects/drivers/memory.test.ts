import { blobDriverContract } from "../driver.contract.ts";
import { memoryDriver } from "./memory.ts";

blobDriverContract("memory", async () => memoryDriver(), {
  readsDeleted: true,
  keepsInMemory: true,
});
