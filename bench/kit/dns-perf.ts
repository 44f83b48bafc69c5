/** dnsperf as the load: a process that asks for a while and tells what it saw. */
import { spawnSync } from "node:child_process";
import type { Cores } from "./cores.ts";
import type { Leftovers } from "./leftovers.ts";
import { runLoadProgram } from "./load-program.ts";

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
  const { output, loadShare } = await runLoadProgram(leftovers, cores, {
    program: PROGRAM,
    args: argumentsOf(job),
    seconds: job.seconds,
  });
  return { ...readOutput(output), loadShare };
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
