/** Has a thread die when a test says so: of the threads that see the file, one takes it away. */
import { unlinkSync } from "node:fs";

/** Names the file; threads have a copy of the environment. */
export const CRASH_FILE = "SELVEDGE_TEST_CRASH";

export function crashWhenTold(): void {
  setInterval(() => {
    try {
      unlinkSync(process.env[CRASH_FILE]!);
    } catch {
      return; // It is not there, or another was first.
    }
    throw new Error("The thread has crashed");
  }, 5).unref();
}
