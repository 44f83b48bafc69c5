/** What is counted of the S3 API, on whichever thread it is served. */
import type { Counter, Histogram, Metrics } from "#kit/metrics.ts";

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class S3Figures {
  readonly requests: Counter;
  readonly durations: Histogram;
  readonly octets: Counter;
  readonly turnedAway: Counter;

  constructor(metrics: Metrics) {
    this.requests = metrics.counter("selvedge_s3_requests_total", "Requests to the S3 API.", [
      "operation",
      "status",
    ]);
    this.durations = metrics.histogram(
      "selvedge_s3_request_seconds",
      "Time from a request's headers to the end of its answer.",
      DURATION_BUCKETS,
    );
    this.octets = metrics.counter(
      "selvedge_s3_octets_total",
      "Octets of bodies that requests announced, and that answers had.",
      ["direction"],
    );
    this.turnedAway = metrics.counter(
      "selvedge_s3_connections_refused_total",
      "Connections over a limit.",
    );
  }
}
