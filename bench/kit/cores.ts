/** Holds processes to cores, with `taskset` from util-linux, so that they do not share one. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const TASKSET = "taskset";

export interface Cores {
  readonly server: number;
  readonly load: number;
}

/** The first two cores that this process may use, or why there is nothing to pin. */
export function chooseCores(): Cores | string {
  if (spawnSync(TASKSET, ["--version"]).status !== 0) return "taskset is not there";
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  const [server, load] = coresIn(list ?? "");
  if (server === undefined || load === undefined) return "there is one core only";
  return { server, load };
}

/** Reads the kernel's form of a list: `0-2,5`. */
export function coresIn(list: string): number[] {
  return list
    .split(",")
    .filter((range) => range !== "")
    .flatMap((range) => {
      const [from, to = from] = range.split("-").map(Number);
      return Array.from({ length: to! - from! + 1 }, (_, index) => from! + index);
    });
}

/** Moves a process to a core, with the threads it has; those it starts later follow. */
export function pin(pid: number, core: number): void {
  const { status, stderr } = spawnSync(TASKSET, ["-acp", String(core), String(pid)]);
  if (status !== 0) throw new Error(`Cannot pin process ${pid} to core ${core}: ${String(stderr)}`);
}
