/** Figures of the process itself, under the names that dashboards for Prometheus expect. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

export function addProcessMetrics(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const started = Date.now() / 1000 - process.uptime();
  metrics.total("process_cpu_seconds_total", "User and system CPU time spent.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge("process_start_time_seconds", "Start of the process, Unix time.", () => started);
  metrics.gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Delay of the event loop, p99 since the last look.",
    () => {
      const p99 = delay.percentile(99) / 1e9;
      delay.reset();
      return p99;
    },
  );
}
