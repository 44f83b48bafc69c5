/** Measures a nameserver: its start, its memory, and its answers to each kind of question. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchContext, Figures } from "./bench.ts";
import { machineCpuSeconds } from "./cpu.ts";
import { checkAnswers } from "./dns-ask.ts";
import type { DnsFiles, Questions } from "./dns-files.ts";
import { type DnsContender, portOf } from "./dns-launch.ts";
import { perfParameters, runDnsperf } from "./dns-perf.ts";
import { pinTree, treeCpuSeconds, treeMemory } from "./process-tree.ts";

/** Time for what a start leaves to do, such as a garbage collection, before memory is read. */
const SETTLE_SECONDS = 2;

/** Until hot code is compiled, and a cache that holds what is asked again is filled. */
const WARM_UP_SECONDS = 2;

export interface Workload {
  readonly key: "existing" | "missing" | "wild" | "tcp";
  readonly name: string;
  readonly transport: "udp" | "tcp";
  readonly questions: (files: DnsFiles) => Questions;
}

export const workloads: readonly Workload[] = [
  {
    key: "existing",
    name: "names that are there, UDP",
    transport: "udp",
    questions: ({ existing }) => existing,
  },
  {
    key: "missing",
    name: "names that are not there, UDP",
    transport: "udp",
    questions: ({ missing }) => missing,
  },
  {
    key: "wild",
    name: "names of a wildcard, UDP",
    transport: "udp",
    questions: ({ wild }) => wild,
  },
  {
    key: "tcp",
    name: "names that are there, TCP",
    transport: "tcp",
    questions: ({ existing }) => existing,
  },
];

export const dnsParameters = {
  ...perfParameters,
  threads: 1,
  warmUpSeconds: WARM_UP_SECONDS,
  settleSeconds: SETTLE_SECONDS,
} as const;

/** A server with the zones, and the same without any: the difference is what the zones take. */
export interface DnsPair {
  readonly filled: DnsContender;
  readonly empty: DnsContender;
}

/** Everything of one server in one round; the figures of a row begin with its key and a dot. */
export async function measureDns(
  context: BenchContext,
  { filled, empty }: DnsPair,
  files: DnsFiles,
  asked: readonly Workload[],
): Promise<Figures> {
  const before = await measureEmpty(empty);
  const machineBefore = machineCpuSeconds();
  await using server = await filled.start();
  const { startMs, pid } = server;
  const startCpuMs = treeCpuSeconds(pid) * 1000;
  const machineCpuMs = (machineCpuSeconds() - machineBefore) * 1000;
  await sleep(SETTLE_SECONDS * 1000);
  const memory = treeMemory(pid);
  const port = portOf(server);
  await checkAnswers(port, files.samples).catch((error: Error) => {
    throw new Error(`${filled.name}: ${error.message}`);
  });
  // Only now: how many threads a server starts should not depend on the pinning.
  if (context.cores !== null) pinTree(pid, context.cores.server);
  let figures: Figures = {};
  for (const workload of asked) {
    const measured = await measureAnswers(context, { pid, port }, files, workload);
    figures = { ...figures, ...withPrefix(measured, workload.key) };
  }
  return {
    ...figures,
    "load.startMs": startMs,
    "load.loadMs": startMs - before.startMs,
    "load.loadCpuMs": startCpuMs - before.startCpuMs,
    ...withPrefix(disturbance((machineCpuMs - startCpuMs) / startMs), "load"),
    ...withPrefix({ ...memory, grownMiB: memory.heldMiB - before.heldMiB }, "memory"),
    "memory.afterMiB": treeMemory(pid).heldMiB,
  };
}

async function measureEmpty(
  empty: DnsContender,
): Promise<{ startMs: number; startCpuMs: number; heldMiB: number }> {
  await using server = await empty.start();
  const { startMs, pid } = server;
  const startCpuMs = treeCpuSeconds(pid) * 1000;
  await sleep(SETTLE_SECONDS * 1000);
  return { startMs, startCpuMs, heldMiB: treeMemory(pid).heldMiB };
}

async function measureAnswers(
  { leftovers, cores, seconds }: BenchContext,
  { pid, port }: { pid: number; port: number },
  files: DnsFiles,
  { transport, questions }: Workload,
): Promise<Figures> {
  const { warm, measured } = questions(files);
  const job = { port, transport, questions: warm, seconds: WARM_UP_SECONDS };
  await runDnsperf(leftovers, cores, job);
  const before = treeCpuSeconds(pid);
  const machineBefore = machineCpuSeconds();
  const began = performance.now();
  const result = await runDnsperf(leftovers, cores, { ...job, questions: measured, seconds });
  const used = treeCpuSeconds(pid) - before;
  const machineShare = (machineCpuSeconds() - machineBefore) / ((performance.now() - began) / 1000);
  const { completed, lost } = result;
  const serverShare = used / result.seconds;
  return {
    ...result,
    rate: completed / result.seconds,
    perCore: completed / used,
    cpuMicros: (used * 1e6) / completed,
    lostPercent: (100 * lost) / (completed + lost),
    serverShare,
    ...disturbance(machineShare - serverShare - result.loadShare),
  };
}

/** What other processes took meanwhile, and what they left: 1 is a machine with nothing else to do. */
function disturbance(share: number): { othersShare: number; quiet: number } {
  const othersShare = Math.max(0, share); // The clocks tick apart: it may come out below nothing.
  return { othersShare, quiet: 1 - othersShare };
}

function withPrefix(figures: Figures, key: string): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${key}.${name}`, value]),
  );
}
