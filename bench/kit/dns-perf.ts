/** dnsperf as the load: a process that asks for a while and tells what it saw. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { type Cores, pin } from "./cores.ts";
import { cpuSeconds } from "./cpu.ts";
import type { Leftovers } from "./leftovers.ts";

export interface PerfJob {
  readonly port: number;
  readonly transport: "udp" | "tcp";
  /** A file of questions, asked again from its start when it ends. */
  readonly questions: string;
  readonly seconds: number;
}

export interface PerfResult {
  readonly completed: number;
  readonly lost: number;
  readonly seconds: number;
  /** Mean octets of a response. */
  readonly octets: number;
  readonly latencyMicros: number;
  /** dnsperf's CPU time by the clock's. */
  readonly loadShare: number;
}

const PROGRAM = "dnsperf";
export const DNSPERF_PACKAGE = "dnsperf";

/** Sockets over UDP, connections over TCP. */
const CLIENTS = { udp: 20, tcp: 10 } as const;

/**
 * Questions under way at once: so many that a server finds one waiting, so few that they fit into the
 * smallest receive buffer among the servers, the kernel's default of 208 KiB or some 160 datagrams.
 */
const OUTSTANDING = 150;

/** A question without an answer for this long is lost. */
const LOST_SECONDS = 2;

/** A run that takes this much longer than it should is given up. */
const GRACE_MS = 15_000;

/** How often its CPU time is read: what is read last, before it ends, counts. */
const LOOK_MS = 50;

export const perfParameters = {
  udpSockets: CLIENTS.udp,
  tcpConnections: CLIENTS.tcp,
  outstanding: OUTSTANDING,
  lostAfterSeconds: LOST_SECONDS,
} as const;

export function hasDnsperf(): boolean {
  return spawnSync(PROGRAM, ["-h"]).error === undefined;
}

export async function runDnsperf(
  leftovers: Leftovers,
  cores: Cores | null,
  job: PerfJob,
): Promise<PerfResult> {
  const child = spawn(PROGRAM, argumentsOf(job), { stdio: ["ignore", "pipe", "pipe"] });
  leftovers.track(child);
  try {
    if (cores !== null && child.pid !== undefined) pin(child.pid, cores.load);
    const share = watchShare(child);
    const output = await outputOf(child, job.seconds * 1000 + GRACE_MS);
    return { ...readOutput(output), loadShare: share() };
  } finally {
    await leftovers.stop(child);
  }
}

function argumentsOf({ port, transport, questions, seconds }: PerfJob): string[] {
  const options = {
    s: "127.0.0.1",
    p: port,
    m: transport,
    d: questions,
    l: seconds,
    c: CLIENTS[transport],
    q: OUTSTANDING,
    t: LOST_SECONDS,
  };
  return Object.entries(options).flatMap(([letter, value]) => [`-${letter}`, String(value)]);
}

function outputOf(child: ChildProcess, withinMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = "";
  const fail = (why: string) => reject(new Error(`dnsperf failed: ${why}\n${output}`));
  const timer = setTimeout(() => fail("it did not end in time"), withinMs);
  const hear = (chunk: Buffer) => (output += chunk.toString());
  child.stdout!.on("data", hear);
  child.stderr!.on("data", hear);
  child.once("error", (error) => fail(error.message));
  child.once("close", (code, signal) => {
    clearTimeout(timer);
    if (code === 0) resolve(output);
    else fail(`it ended with ${signal ?? code}`);
  });
  return promise;
}

/** Reads CPU time while the process runs; the function returned gives its share of a core. */
function watchShare(child: ChildProcess): () => number {
  const first = { at: performance.now(), cpu: 0 };
  let last = first;
  const timer = setInterval(() => {
    try {
      last = { at: performance.now(), cpu: cpuSeconds(child.pid!) };
    } catch {
      clearInterval(timer); // It has ended.
    }
  }, LOOK_MS);
  child.once("exit", () => clearInterval(timer));
  return () => last.cpu / Math.max(1e-3, (last.at - first.at) / 1000);
}

/** Takes the figures from the statistics that dnsperf prints at its end. */
export function readOutput(output: string): Omit<PerfResult, "loadShare"> {
  const figure = (label: string) => {
    const number = new RegExp(`${label}\\s+([\\d.]+)`).exec(output)?.[1];
    if (number === undefined) throw new Error(`dnsperf did not tell "${label}":\n${output}`);
    return Number(number);
  };
  return {
    completed: figure("Queries completed:"),
    lost: figure("Queries lost:"),
    seconds: figure("Run time \\(s\\):"),
    octets: figure("Average packet size:.*response"),
    latencyMicros: figure("Average Latency \\(s\\):") * 1e6,
  };
}
