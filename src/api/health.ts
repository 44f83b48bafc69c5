/** Whether the process lives, whether it can serve, and its figures. Open to all on this listener. */
import type { Reply } from "#http";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";

export interface HealthOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Resolves when everything a request needs is there; rejects with the reason when not. */
  readonly checkReady: () => Promise<void>;
}

const PLAIN = "text/plain; charset=utf-8";
/** The type that Prometheus's scraper looks for. */
const METRICS = "text/plain; version=0.0.4; charset=utf-8";
/** A database that takes longer than this to say hello is not ready. */
const READY_TIMEOUT_MS = 2_000;

export function healthRoutes({ metrics, checkReady, log }: HealthOptions) {
  return {
    "/healthz": (): Reply => ({ status: 200, type: PLAIN, body: "ok\n" }),
    "/readyz": async (): Promise<Reply> => {
      try {
        await within(READY_TIMEOUT_MS, checkReady());
        return { status: 200, type: PLAIN, body: "ready\n" };
      } catch (cause) {
        log.warn("not ready", { cause });
        return { status: 503, type: PLAIN, body: "not ready: the database does not answer\n" };
      }
    },
    "/metrics": (): Reply => ({ status: 200, type: METRICS, body: metrics.print() }),
  };
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the database does not answer")), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
