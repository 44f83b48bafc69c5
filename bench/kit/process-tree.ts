/** A server that may be several processes, as one: a process and all that it has started. */
import { readdirSync, readFileSync } from "node:fs";
import { pin } from "./cores.ts";
import { cpuSeconds } from "./cpu.ts";
import { type Memory, memoryOf } from "./memory.ts";

/** The process, those it started, those that these started, and so on. */
export function processTree(root: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }));
  const tree = [root];
  // A list that grows while it is walked: what is added is looked at in its turn.
  for (const pid of tree) {
    tree.push(...parents.filter(({ parent }) => parent === pid).map((child) => child.pid));
  }
  return tree;
}

/** CPU time of all; one that ends takes its time with it, so none may end while it is measured. */
export function treeCpuSeconds(root: number): number {
  return sum(processTree(root).map(cpuSeconds));
}

export interface TreeMemory extends Memory {
  /** Each page once: shared ones among these processes, and with others that run the same program. */
  readonly heldMiB: number;
}

/** Pages that the processes share are in `rssMiB` as often as they are mapped. */
export function treeMemory(root: number): TreeMemory {
  const tree = processTree(root);
  const each = tree.map(memoryOf);
  const files = tree.map((pid) => kibibytes(`/proc/${pid}/status`, "RssFile"));
  const rest = tree.flatMap((pid) =>
    ["Pss_Anon", "Pss_Shmem"].map((key) => kibibytes(`/proc/${pid}/smaps_rollup`, key)),
  );
  return {
    rssMiB: sum(each.map(({ rssMiB }) => rssMiB)),
    pssMiB: sum(each.map(({ pssMiB }) => pssMiB)),
    // All run one program, so the one that maps most of it maps what the others do.
    heldMiB: (Math.max(...files) + sum(rest)) / 1024,
  };
}

function kibibytes(path: string, key: string): number {
  const value = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(readFileSync(path, "utf8"))?.[1];
  if (value === undefined) throw new Error(`Cannot read memory: ${path} has no ${key}`);
  return Number(value);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function pinTree(root: number, core: number): void {
  for (const pid of processTree(root)) pin(pid, core);
}

/** Null for a process that ended while the list was read. */
function parentOf(pid: string): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
  } catch {
    return null;
  }
}
