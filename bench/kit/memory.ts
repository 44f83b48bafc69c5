/** Memory that a process holds. proc_pid_status(5), proc_pid_smaps(5). */
import { readFileSync } from "node:fs";

export interface Memory {
  /** All resident pages, those shared with other processes too. */
  readonly rssMiB: number;
  /** Shared pages divided by the number of processes that map them. */
  readonly pssMiB: number;
}

export function memoryOf(pid: number): Memory {
  return {
    rssMiB: mebibytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB$/m),
    pssMiB: mebibytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB$/m),
  };
}

function mebibytes(path: string, pattern: RegExp): number {
  const kibibytes = pattern.exec(readFileSync(path, "utf8"))?.[1];
  if (kibibytes === undefined) throw new Error(`Cannot read memory: ${path} has no ${pattern}`);
  return Number(kibibytes) / 1024;
}
