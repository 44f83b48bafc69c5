/** Loads an HTTP/1.1 server: each connection sends the same request again once its answer is whole. */
import { HttpConnection } from "./http-connection.ts";
import { Histogram } from "./histogram.ts";
import { serveJobs } from "./load-process.ts";

export interface HttpJob {
  readonly host: string;
  readonly port: number;
  /** Head and body as they go over the wire, a character a byte. */
  readonly request: string;
  readonly connections: number;
  /** It ends at whichever comes first; what is under way then is waited for and counts. */
  readonly seconds: number;
  readonly maxRequests: number;
}

export interface HttpResult {
  readonly requests: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** The generator's own use of a core; near 1 it measures itself instead of the server. */
  readonly loadShare: number;
}

export async function loadHttp(job: HttpJob): Promise<HttpResult> {
  using stack = new DisposableStack();
  const connections = Array.from({ length: job.connections }, () =>
    stack.use(new HttpConnection(job)),
  );
  await Promise.all(connections.map((connection) => connection.opened));
  const cpu = process.cpuUsage();
  const began = performance.now();
  const course = {
    latencies: new Histogram(),
    endsAt: began + job.seconds * 1000,
    requestsLeft: job.maxRequests,
  };
  await Promise.all(connections.map((connection) => connection.run(course)));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const { latencies } = course;
  return {
    requests: latencies.total,
    seconds,
    p50Micros: latencies.quantile(0.5),
    p99Micros: latencies.quantile(0.99),
    loadShare: (user + system) / 1e6 / seconds,
  };
}

if (import.meta.main) serveJobs(loadHttp);
