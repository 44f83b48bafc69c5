/** Gives each request its line in the log and its place in the metrics. */
import type { IncomingMessage } from "node:http";
import type { Log } from "#kit/log.ts";
import type { Figure } from "#kit/tally.ts";
import type { S3Figures } from "./figures.ts";
import type { S3Answer } from "./operation.ts";

/** What becomes known of a request on its way. */
export interface Seen {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** In the time of `performance`. */
  readonly began: number;
  /** Without its query, which may hold a signature. */
  path: string;
  /** Its name, there or not; empty for none. */
  bucket: string;
  operation: string;
  actor: string | null;
  /** Whether its body may come: a client can wait to be told so. */
  isAsked: boolean;
}

/** What is known of it before anything is read. */
export function beginning(request: IncomingMessage, requestId: string): Seen {
  return {
    request,
    requestId,
    began: performance.now(),
    path: "",
    bucket: "",
    operation: "none",
    actor: null,
    isAsked: request.headers.expect === undefined,
  };
}

export function observer({ log, figures }: { readonly log: Log; readonly figures: S3Figures }) {
  const { durations, octets } = figures;
  const requests = requestFigures(figures);
  const received = octets.figure("in");
  const sent = octets.figure("out");
  return (seen: Seen, { status = 200, body }: S3Answer): void => {
    const { request, requestId, began, path, operation, actor } = seen;
    const { method } = request;
    const ms = performance.now() - began;
    requests(operation, status).value++;
    durations.observe(ms / 1000);
    received.value += Number(request.headers["content-length"] ?? 0) || 0;
    if (body !== undefined && method !== "HEAD") sent.value += body.length;
    const line = { request_id: requestId, operation, method, path, status, ms: hundredths(ms) };
    log.info("request", actor === null ? line : { ...line, actor });
  };
}

/** Each is looked for once. */
function requestFigures({ requests }: S3Figures) {
  const byOperation = new Map<string, Map<number, Figure>>();
  return (operation: string, status: number): Figure =>
    byOperation
      .getOrInsertComputed(operation, () => new Map<number, Figure>())
      .getOrInsertComputed(status, () => requests.figure(operation, String(status)));
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
