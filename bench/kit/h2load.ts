/** h2load of nghttp2 as the load: HTTP/1.1, the same over TLS, and HTTP/2. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cores } from "./cores.ts";
import type { Leftovers } from "./leftovers.ts";
import { runLoadProgram } from "./load-program.ts";
import type { HttpResult } from "./http-load.ts";

export type Protocol = "http" | "https" | "h2";

export interface H2loadJob {
  /** Where to connect, as `HOST:PORT`; the URL says what is asked for. */
  readonly connectTo: string;
  readonly url: string;
  readonly protocol: Protocol;
  /** Requests under way at once. */
  readonly atOnce: number;
}

const PROGRAM = "h2load";
export const H2LOAD_PACKAGE = "nghttp2-client";

/** Browsers send what they want at once over one connection; over HTTP/1.1 each needs its own. */
const STREAMS = 8;

export function hasH2load(): boolean {
  return spawnSync(PROGRAM, ["--version"]).error === undefined;
}

/** What is taken for the rate until there has been a first run. */
const FIRST_RATE = 500;

/**
 * Loads for about so many seconds: as many requests as the run before had in that time. Told to end by the
 * clock, h2load 1.52 may hang on connections with TLS that have a request under way.
 */
export function h2loadOf(leftovers: Leftovers, cores: Cores | null, job: H2loadJob) {
  let rate = FIRST_RATE;
  return async (seconds: number): Promise<HttpResult> => {
    const requests = Math.max(job.atOnce, Math.ceil(rate * seconds));
    const result = await runH2load(leftovers, cores, { ...job, requests, seconds });
    rate = result.requests / result.seconds;
    return result;
  };
}

async function runH2load(
  leftovers: Leftovers,
  cores: Cores | null,
  job: H2loadJob & { readonly requests: number; readonly seconds: number },
): Promise<HttpResult> {
  const folder = await leftovers.folder();
  try {
    const log = join(folder, "log");
    const args = argumentsOf(job, log);
    const load = { program: PROGRAM, args, seconds: job.seconds };
    const { output, loadShare } = await runLoadProgram(leftovers, cores, load);
    return { ...readOutput(output), ...latenciesIn(readFileSync(log, "latin1")), loadShare };
  } finally {
    await leftovers.remove(folder);
  }
}

function argumentsOf(job: H2loadJob & { readonly requests: number }, log: string): string[] {
  const { connectTo, url, protocol, atOnce, requests } = job;
  const streams = protocol === "h2" ? Math.min(STREAMS, atOnce) : 1;
  return [
    `--clients=${atOnce / streams}`,
    `--max-concurrent-streams=${streams}`,
    `--requests=${requests}`,
    `--connect-to=${connectTo}`,
    `--log-file=${log}`,
    "--tls13-ciphers=TLS_AES_128_GCM_SHA256", // Else each server would choose another.
    ...(protocol === "h2" ? [] : ["--h1"]),
    url,
  ];
}

/** Takes the figures from what it prints at its end; an answer that is no success is a fault. */
function readOutput(output: string): { requests: number; seconds: number } {
  const [, time, unit] = /^finished in ([\d.]+)(us|ms|s),/m.exec(output) ?? [];
  const seconds = Number(time) * (unit === "s" ? 1 : unit === "ms" ? 1e-3 : 1e-6);
  const succeeded = Number(/^status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx$/m.exec(output)?.[1]);
  const isWhole = /, 0 failed, 0 errored, 0 timeout$/m.test(output);
  if (!(seconds > 0 && succeeded > 0 && isWhole)) {
    throw new Error(`h2load did not get all answers:\n${output}`);
  }
  return { requests: succeeded, seconds };
}

/** A line is the start, the status and the microseconds of a request. */
function latenciesIn(log: string): { p50Micros: number; p99Micros: number } {
  const lines = log.trimEnd().split("\n");
  const micros = Float64Array.from(lines, (line) => Number(line.split("\t")[2])).sort();
  const quantile = (share: number) => micros[Math.floor(share * (micros.length - 1))]!;
  return { p50Micros: quantile(0.5), p99Micros: quantile(0.99) };
}
