/** A thread of the edge that dies when the test says so: of the threads that see the file, one takes it away. */
import { unlinkSync } from "node:fs";

await import("./edge-thread.ts");

setInterval(() => {
  try {
    unlinkSync(process.env["SELVEDGE_TEST_CRASH"]!);
  } catch {
    return; // It is not there, or another was first.
  }
  throw new Error("The thread has crashed");
}, 5).unref();
