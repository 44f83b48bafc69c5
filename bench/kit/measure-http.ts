/** Measures one request against a running HTTP server: a warm-up, then the interval that counts. */
import type { BenchContext, Condition, ShownFigure } from "./bench.ts";
import type { Running } from "./contender.ts";
import { machineCpuSeconds } from "./cpu.ts";
import type { HttpJob, HttpResult } from "./http-load.ts";
import { startLoad } from "./load.ts";
import { pinTree, treeCpuSeconds } from "./process-tree.ts";

/** Rates rise for some two seconds, until a server's hot code is compiled. */
const WARM_UP_SECONDS = 3;

/** Enough to keep one core busy without a pause, few enough that a queue is not all of p99. */
const CONNECTIONS = 32;

/** Ends a run on a machine so fast, or with seconds so many, that nobody would wait for it. */
const MAX_REQUESTS = 20_000_000;

export const httpParameters = {
  warmUpSeconds: WARM_UP_SECONDS,
  connections: CONNECTIONS,
  maxRequests: MAX_REQUESTS,
} as const;

export interface HttpFigures extends Omit<HttpResult, "seconds"> {
  readonly [name: string]: number;
  readonly seconds: number;
  readonly rate: number;
  readonly cpuSeconds: number;
  readonly cpuMicrosPerRequest: number;
  /** The server's CPU time by the clock's: 1 is a core that never rested. */
  readonly serverShare: number;
  /** In the same measure, what went to neither server nor generator: how noisy the round was. */
  readonly othersShare: number;
}

export const httpFigures: readonly ShownFigure[] = [
  { key: "rate", label: "requests/s", digits: 0 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  { key: "cpuMicrosPerRequest", label: "server CPU µs/request", digits: 1 },
  { key: "serverShare", label: "server's use of a core", digits: 2 },
  { key: "loadShare", label: "generator's use of a core", digits: 2 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];

/** A server that rests, or has to share its core, could do more than its rate shows. */
export const httpConditions: readonly Condition[] = [
  {
    otherwise: "a server had less than 0.9 of a core, so something else limits its rate",
    key: "serverShare",
    atLeast: 0.9,
  },
];

export async function measureHttp(
  { seconds, cores, leftovers }: BenchContext,
  { pid, address }: Running,
  request: string,
  connections = CONNECTIONS,
): Promise<HttpFigures> {
  // Only now: how many threads a server starts should not depend on the pinning.
  if (cores !== null) pinTree(pid, cores.server);
  const { hostname: host, port } = new URL(address);
  const target = { host, port: Number(port), request };
  const bounds = { connections, maxRequests: MAX_REQUESTS };
  const program = new URL("./http-load.ts", import.meta.url);
  await using load = startLoad<HttpJob, HttpResult>(leftovers, program, cores);
  await load.run({ ...target, ...bounds, seconds: WARM_UP_SECONDS });
  const before = treeCpuSeconds(pid);
  const machineBefore = machineCpuSeconds();
  const result = await load.run({ ...target, ...bounds, seconds });
  const used = treeCpuSeconds(pid) - before;
  const machineUsed = machineCpuSeconds() - machineBefore;
  const serverShare = used / result.seconds;
  const machineShare = machineUsed / result.seconds;
  return {
    ...result,
    rate: result.requests / result.seconds,
    cpuSeconds: used,
    cpuMicrosPerRequest: (used * 1e6) / result.requests,
    serverShare,
    // The two clocks tick apart, so a quiet machine may come out below nothing.
    othersShare: Math.max(0, machineShare - serverShare - result.loadShare),
  };
}
