/** Gives each request its line in the log and its place in the metrics. */
import type { IncomingMessage } from "node:http";
import type { Log } from "#kit/log.ts";
import type { S3Figures } from "./figures.ts";
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

export function observer({ log, figures }: { readonly log: Log; readonly figures: S3Figures }) {
  const { requests, durations, octets } = figures;
  return (seen: Seen, { status = 200, body }: S3Answer, requestId: string, ms: number): void => {
    const { request, path, operation, actor } = seen;
    requests.count(operation, String(status));
    durations.observe(ms / 1000);
    octets.add(Number(request.headers["content-length"] ?? 0) || 0, "in");
    octets.add(request.method === "HEAD" ? 0 : (body?.length ?? 0), "out");
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
