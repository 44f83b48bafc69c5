/** What the threads of the edge have counted, added up. */
import type { SharedConnections } from "#http";
import type { Metrics } from "#kit/metrics.ts";
import { DURATIONS, type EdgeCounters } from "./counters.ts";

export interface EdgeFigures {
  readonly counters: readonly EdgeCounters[];
  readonly connections: readonly SharedConnections[];
  readonly restarts: () => number;
}

export function addEdgeMetrics(
  metrics: Metrics,
  { counters, connections, restarts }: EdgeFigures,
): void {
  const sum = (read: (one: EdgeCounters) => number) =>
    counters.reduce((total, one) => total + read(one), 0);
  metrics.totals("selvedge_edge_requests_total", "Requests to the edge.", ["status"], () =>
    Array.from(
      counters[0]!.statuses,
      (_, status) => [[String(status)], sum(({ statuses }) => statuses[status]!)] as const,
    ).filter(([, total]) => total > 0),
  );
  metrics.histogramOf(
    "selvedge_edge_request_seconds",
    "Time from a request's headers to the end of its answer.",
    () => ({
      bounds: DURATIONS,
      counts: Array.from(counters[0]!.durations, (_, i) => sum(({ durations }) => durations[i]!)),
      sum: sum(({ seconds }) => seconds),
    }),
  );
  metrics.total("selvedge_edge_connections_refused_total", "Connections over a limit.", () =>
    sum(({ turnedAway }) => turnedAway),
  );
  metrics.gauge("selvedge_edge_connections", "Open connections to the edge.", () =>
    connections.reduce((total, { open }) => total + open, 0),
  );
  metrics.total(
    "selvedge_edge_thread_restarts_total",
    "Threads of the edge that ended and were started again.",
    restarts,
  );
}
