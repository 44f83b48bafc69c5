/** Gives each request its line in the log and its place in the metrics. */
import type { IncomingMessage } from "node:http";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { Passage } from "./onward.ts";
import { type Refusal, refusals } from "./refusals.ts";

/** What comes of a request: a refusal of ours, or a passage to whoever answers. */
export type Outcome = Refusal | Passage;

export type Observe = (
  request: IncomingMessage,
  outcome: Outcome,
  requestId: string,
  ms: number,
) => void;

export function observer({
  log,
  metrics,
}: {
  readonly log: Log;
  readonly metrics: Metrics;
}): Observe {
  const requests = metrics.counter("selvedge_edge_requests_total", "Requests to the edge.", [
    "status",
  ]);
  const durations = metrics.histogram(
    "selvedge_edge_request_seconds",
    "Time from a request's headers to the end of its answer.",
    DURATION_BUCKETS,
  );
  return (request, outcome, requestId, ms) => {
    const status = statusOf(outcome);
    requests.count(String(status));
    durations.observe(ms / 1000);
    const { method, url, headers } = request;
    log.info("request", {
      request_id: requestId,
      method,
      host: headers.host,
      path: url?.split("?", 1)[0], // Without its query, which may hold what nobody should read.
      status,
      ms: Math.round(ms * 100) / 100,
      ...("code" in outcome && { refused: outcome.code }),
      ...("cause" in outcome && { cause: outcome.cause }),
    });
  };
}

const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** As others log it when the client was the one who left. */
const CLIENT_LEFT = 499;

function statusOf(outcome: Outcome): number {
  if (!("kind" in outcome)) return outcome.status;
  if (outcome.kind === "answered") return outcome.status;
  return outcome.kind === "left" ? CLIENT_LEFT : refusals.brokenScript().status;
}
