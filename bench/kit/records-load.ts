/** Loads an HTTP server with requests that each carry a number of their own; refusals are counted. */
import { Agent, request } from "node:http";
import { Histogram } from "./histogram.ts";
import { serveJobs } from "./load-process.ts";
import { NUMBER } from "./record-server.ts";

export interface RecordsJob {
  readonly host: string;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a GET. */
  readonly body: string | null;
  /** The number of the first request; the others count on. */
  readonly first: number;
  /** Requests under way at a time. */
  readonly concurrency: number;
  readonly seconds: number;
}

export interface RecordsResult {
  /** Answered with success. */
  readonly done: number;
  readonly errors: number;
  /** The first of them in words, for the person who looks; empty without one. */
  readonly firstError: string;
  /** The number that the next job may start with. */
  readonly next: number;
  readonly seconds: number;
  /** Of the successes. */
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly loadShare: number;
}

/** A server that does not answer at all must not hold up the bench. */
const REQUEST_TIMEOUT_MS = 5_000;

async function loadRecords(job: RecordsJob): Promise<RecordsResult> {
  // PowerDNS closes each connection after its answer; ours are kept.
  const agent = new Agent({ keepAlive: true, maxSockets: job.concurrency });
  const latencies = new Histogram();
  let [next, errors, firstError] = [job.first, 0, ""];
  const cpu = process.cpuUsage();
  const began = performance.now();
  const endsAt = began + job.seconds * 1000;
  const sendUntilEnd = async () => {
    for (let sentAt = began; sentAt < endsAt; sentAt = performance.now()) {
      const error = await send(job, agent, next++);
      if (error === null) latencies.record((performance.now() - sentAt) * 1000);
      else {
        errors++;
        firstError ||= error;
      }
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, sendUntilEnd));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  return {
    done: latencies.total,
    errors,
    firstError,
    next,
    seconds,
    p50Micros: latencies.quantile(0.5),
    p99Micros: latencies.quantile(0.99),
    loadShare: (user + system) / 1e6 / seconds,
  };
}

/** Returns what went wrong, or null. */
function send(job: RecordsJob, agent: Agent, number: number): Promise<string | null> {
  const { host, port, method, path } = job;
  const body = job.body?.replace(NUMBER, String(number)) ?? null;
  const headers = {
    ...job.headers,
    ...(body !== null && {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    }),
  };
  return new Promise((resolve) => {
    const sent = request({ host, port, method, path, headers, agent }, (answer) => {
      const status = answer.statusCode!;
      const isGood = status >= 200 && status < 300;
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        if (!isGood) text += chunk.toString();
      });
      answer.on("end", () => resolve(isGood ? null : `${status} ${text}`));
      answer.on("error", (error) => resolve(error.message));
    });
    sent.setTimeout(REQUEST_TIMEOUT_MS, () => sent.destroy(new Error("no answer in time")));
    sent.on("error", (error) => resolve(error.message));
    sent.end(body ?? undefined);
  });
}

if (import.meta.main) serveJobs(loadRecords);
