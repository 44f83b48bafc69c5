/** Gives each request its line in the log and its place in the metrics. */
import type { IncomingMessage } from "node:http";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { S3Answer } from "./operation.ts";

/** What becomes known of a request on its way. */
export interface Seen {
  readonly request: IncomingMessage;
  /** Without its query, which may hold a signature. */
  path: string;
  /** Its name, there or not; empty for none. */
  bucket: string;
  operation: string;
  actor: string | null;
  /** Whether its body may come: a client can wait to be told so. */
  isAsked: boolean;
}

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function observer({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }) {
  const requests = metrics.counter("selvedge_s3_requests_total", "Requests to the S3 API.", [
    "operation",
    "status",
  ]);
  const durations = metrics.histogram(
    "selvedge_s3_request_seconds",
    "Time from a request's headers to the end of its answer.",
    DURATION_BUCKETS,
  );
  const octets = { in: 0, out: 0 };
  metrics.totals(
    "selvedge_s3_octets_total",
    "Octets of bodies that requests announced, and that answers had.",
    ["direction"],
    () => Object.entries(octets).map(([direction, total]) => [[direction], total]),
  );
  return (seen: Seen, { status = 200, body }: S3Answer, requestId: string, ms: number): void => {
    const { request, path, operation, actor } = seen;
    requests.count(operation, String(status));
    durations.observe(ms / 1000);
    octets.in += Number(request.headers["content-length"] ?? 0) || 0;
    octets.out += request.method === "HEAD" ? 0 : (body?.length ?? 0);
    log.info("request", {
      request_id: requestId,
      operation,
      method: request.method,
      path,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(actor !== null && { actor }),
    });
  };
}
