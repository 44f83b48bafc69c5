/** The inside of a process that holds a bucket: takes jobs, and tells what they cost. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Figures } from "./bench.ts";
import { machineCpuSeconds } from "./cpu.ts";
import { treeCpuSeconds, treeMemory } from "./process-tree.ts";
import { serveJobs } from "./load-process.ts";
import type { LoopJob, LoopResult } from "./objects-loop.ts";

/** `seconds` is the longest that the job may take. */
export type ObjectsJob =
  | { readonly do: "open"; readonly data: string; readonly seconds: number }
  | {
      readonly do: "fill";
      readonly loop: LoopJob;
      readonly most?: number;
      readonly seconds: number;
    }
  | { readonly do: "measure"; readonly loop: LoopJob; readonly seconds: number }
  | { readonly do: "memory"; readonly seconds: number }
  | { readonly do: "upload"; readonly octets: number; readonly seconds: number };

/** What is measured. */
export interface Subject {
  /** At most so many; all when it is not given. */
  fill(job: LoopJob, most?: number): Promise<void>;
  loop(job: LoopJob): Promise<LoopResult>;
  upload?(octets: number): Promise<Figures>;
}

/** V8 needs this long until it has compiled what is called most; servers run for longer. */
const WARM_UP_SECONDS = 2;

/** What was begun, and garbage of what went before, is then done with. */
const SETTLE_MS = 200;

export function serveSubject(open: (data: string) => Promise<Subject>): void {
  let subject: Subject;
  serveJobs<ObjectsJob, Figures>(async (job) => {
    if (job.do === "open") subject = await open(job.data);
    if (job.do === "fill") await subject.fill(job.loop, job.most);
    if (job.do === "measure") return measure(subject, job.loop);
    if (job.do === "memory") return memory();
    if (job.do === "upload") return subject.upload!(job.octets);
    return {};
  });
}

async function memory(): Promise<Figures> {
  await sleep(SETTLE_MS);
  return { rssMiB: treeMemory(process.pid).rssMiB };
}

async function measure(subject: Subject, job: LoopJob): Promise<Figures> {
  const warm = await subject.loop({ ...job, seconds: WARM_UP_SECONDS });
  await sleep(SETTLE_MS);
  const [before, machineBefore] = [treeCpuSeconds(process.pid), machineCpuSeconds()];
  const { done, seconds, ...rest } = await subject.loop({ ...job, first: warm.done });
  const cpu = treeCpuSeconds(process.pid) - before;
  const others = machineCpuSeconds() - machineBefore - cpu;
  return {
    ...rest,
    rate: done / seconds,
    cpuMicros: (cpu * 1e6) / done,
    share: cpu / seconds,
    othersShare: others / seconds,
  };
}
