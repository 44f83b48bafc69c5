/** wrk as the load: requests of one kind, over kept connections, each path in its turn. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cores } from "./cores.ts";
import type { HttpResult } from "./http-load.ts";
import type { Leftovers } from "./leftovers.ts";
import { runLoadProgram } from "./load-program.ts";

export interface WrkJob {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  readonly method: "GET" | "PUT";
  /** With their queries. */
  readonly paths: readonly string[];
  /** Sent with each request. */
  readonly body: Uint8Array | null;
  /** Requests under way at once. */
  readonly atOnce: number;
}

const PROGRAM = "wrk";
export const WRK_PACKAGE = "wrk";

/** A large body on a busy machine; wrk counts what takes longer as an error. */
const TIMEOUT_SECONDS = 30;

export function hasWrk(): boolean {
  return spawnSync(PROGRAM, ["--version"]).error === undefined;
}

/** Runs for so many seconds; an answer that is no success is a fault. */
export async function runWrk(
  leftovers: Leftovers,
  cores: Cores | null,
  job: WrkJob,
  seconds: number,
): Promise<HttpResult> {
  const folder = await leftovers.folder();
  try {
    const script = join(folder, "load.lua");
    writeFileSync(join(folder, "paths"), `${job.paths.join("\n")}\n`);
    writeFileSync(join(folder, "body"), job.body ?? "");
    writeFileSync(script, scriptOf(folder, job));
    const args = [
      "--threads=1",
      `--connections=${job.atOnce}`,
      `--duration=${seconds}s`,
      `--timeout=${TIMEOUT_SECONDS}s`,
      `--script=${script}`,
      job.address,
    ];
    const load = { program: PROGRAM, args, seconds: seconds + TIMEOUT_SECONDS };
    const { output, loadShare } = await runLoadProgram(leftovers, cores, load);
    return { ...readOutput(output), loadShare };
  } finally {
    await leftovers.remove(folder);
  }
}

/** Requests are written once, before the load, so that Lua costs little while it runs. */
function scriptOf(folder: string, { method, body }: WrkJob): string {
  return `
local requests, at = {}, 0
function init()
  local body = nil
  if ${body !== null} then
    local file = io.open("${folder}/body", "rb")
    body = file:read("*a")
    file:close()
  end
  for path in io.lines("${folder}/paths") do
    requests[#requests + 1] = wrk.format("${method}", path, nil, body)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format("RESULT %d %d %d %d %d", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.timeout + e.status, latency:percentile(50), latency:percentile(99)))
end
`;
}

function readOutput(output: string): Omit<HttpResult, "loadShare"> {
  const figures = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)?.slice(1).map(Number);
  const [requests, micros, errors, p50Micros, p99Micros] = figures ?? [];
  if (figures === undefined || errors! > 0 || requests === 0) {
    throw new Error(`wrk did not get all answers:\n${output}`);
  }
  return {
    requests: requests!,
    seconds: micros! / 1e6,
    p50Micros: p50Micros!,
    p99Micros: p99Micros!,
  };
}
