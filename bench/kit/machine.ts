/** The machine a figure was measured on. */
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryMiB: number;
  readonly system: string;
  readonly node: string;
  /** Processes that wanted a core in the last minute; above 0 something else was running too. */
  readonly loadBefore: number;
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memoryMiB: Math.round(totalmem() / 1024 ** 2),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    loadBefore: Math.round(loadavg()[0]! * 100) / 100,
  };
}
