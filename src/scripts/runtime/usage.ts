/** What a process has used so far, as Linux tells it: proc(5). */
import { readFileSync } from "node:fs";

export interface Usage {
  readonly cpuSeconds: number;
  /** Its own memory, without files that it shares with others. */
  readonly memoryMib: number;
  /** It runs, or would if a processor were free. */
  readonly isRunnable: boolean;
}

/** USER_HZ, which is 100 on all systems that Node runs on. */
const TICKS_A_SECOND = 100;
/** Places after the name of the program, which may hold anything and stands in parentheses. */
const STATE = 0;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Null when the process is gone, or the system is another. */
export function usageOf(pid: number): Usage | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const anonymousKib = Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    return {
      cpuSeconds: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) / TICKS_A_SECOND,
      memoryMib: anonymousKib / 1024,
      isRunnable: fields[STATE] === "R",
    };
  } catch {
    return null;
  }
}
