/** What must be gone when the program ends, however it ends: its processes and its folders. */
import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

/** A process that is asked to stop has this long; ours needs some milliseconds. */
const STOP_MS = 5_000;

/** A process killed a moment ago may still hold its folder. */
const REMOVE = { recursive: true, force: true, maxRetries: 5 } as const;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Leftovers {
  readonly #children = new Set<ChildProcess>();
  readonly #folders = new Set<string>();

  /** Kills and removes what is left when this process exits, also by a signal or a fault. */
  clearAtExit(): void {
    process.on("exit", () => this.#clear());
    for (const signal of SIGNALS) {
      // As a shell counts it: 128 and the signal's number.
      process.on(signal, () => process.exit(128 + constants.signals[signal]));
    }
  }

  /** Watches over a process from its first moment to its end. */
  track(child: ChildProcess): void {
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
  }

  /** Asks a process to stop, insists after a while, and returns when it is gone. */
  async stop(child: ChildProcess): Promise<void> {
    if (!this.#children.has(child)) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await gone;
    clearTimeout(timer);
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-bench-"));
    this.#folders.add(folder);
    return folder;
  }

  async remove(folder: string): Promise<void> {
    await rm(folder, REMOVE);
    this.#folders.delete(folder);
  }

  #clear(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const folder of this.#folders) rmSync(folder, REMOVE);
  }
}
