/** CPU time that a process has used, and the machine as a whole. proc_pid_stat(5), proc_stat(5). */
import { readFileSync } from "node:fs";

/** The kernel counts in ticks of 10 ms for user space, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Fields by their number in the manual; the second is a name in brackets that may hold spaces. */
const FIRST_AFTER_NAME = 3;
const UTIME = 14;
const STIME = 15;

/** Time in user and in kernel mode, in seconds. Children that the process started do not count. */
export function cpuSeconds(pid: number): number {
  return cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

export function cpuSecondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = (field: number) => Number(fields[field - FIRST_AFTER_NAME]);
  return (ticks(UTIME) + ticks(STIME)) / TICKS_PER_SECOND;
}

/**
 * What all processes together have used, and what the host gave to other machines. Interrupts are
 * left out: the network's are our own load's, and no process is charged with them.
 */
export function machineCpuSeconds(): number {
  return machineCpuSecondsIn(readFileSync("/proc/stat", "utf8"));
}

export function machineCpuSecondsIn(stat: string): number {
  const [, user, nice, system, , , , , steal] = stat.slice(0, stat.indexOf("\n")).split(/ +/);
  return (
    [user, nice, system, steal].reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
  );
}
