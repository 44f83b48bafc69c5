/** The answer to a client from a stored response: all of it, a part, or that nothing has changed. */
import { ageSeconds } from "./freshness.ts";
import { type RawHeaders, requestField, withoutFields } from "./headers.ts";
import {
  type CachedResponse,
  type CacheRequest,
  type CacheStatus,
  STATUS_FIELD,
} from "./messages.ts";
import { type Span, wantedPart } from "./ranges.ts";
import type { StoredHead } from "./stored.ts";
import { allowsRange, clientHasIt, notModifiedHeaders } from "./validators.ts";

/** Gives the octets of a span. */
export type ReadBody = (span: Span) => Uint8Array | AsyncIterable<Uint8Array>;

/** `length` is null while it is not known how many octets will come. */
export function answerFrom(
  head: StoredHead,
  length: number | null,
  read: ReadBody,
  request: CacheRequest,
  cacheStatus: CacheStatus,
  now: number,
): CachedResponse {
  const { status, headers } = head;
  const finish = (code: number, fields: RawHeaders, body: CachedResponse["body"]) => ({
    status: code,
    headers: [...fields, ...lastFields(head, cacheStatus, now)],
    body: request.method === "HEAD" ? null : body,
    cacheStatus,
  });
  if (status === 200 && clientHasIt(headers, request.headers, head.receivedAt)) {
    return finish(304, notModifiedHeaders(headers), null);
  }
  const span = partOf(head, length, request);
  if (span === "unsatisfiable") {
    const fields = withoutFields(headers, OF_LENGTH);
    return finish(
      416,
      [...fields, "Content-Range", `bytes */${length}`, "Content-Length", "0"],
      null,
    );
  }
  if (span !== "whole") {
    const range = `bytes ${span.start}-${span.end - 1}/${length}`;
    const fields = [...withoutFields(headers, OF_LENGTH), "Content-Range", range];
    fields.push("Content-Length", String(span.end - span.start));
    return finish(206, fields, request.method === "HEAD" ? null : read(span));
  }
  const all = { start: 0, end: length ?? Number.POSITIVE_INFINITY };
  return finish(status, headers, request.method === "HEAD" || length === 0 ? null : read(all));
}

const OF_LENGTH: ReadonlySet<string> = new Set(["content-length", "content-range"]);

/** Whether the request asks for more than a plain answer, so that `answerFrom` must look. */
export function isPlain({ method, headers }: CacheRequest): boolean {
  return (
    method === "GET" &&
    headers["range"] === undefined &&
    headers["if-none-match"] === undefined &&
    headers["if-modified-since"] === undefined
  );
}

/** Ranges are for GET alone (RFC 9110 §14.2), and for a body whose end is known. */
function partOf(head: StoredHead, length: number | null, { method, headers }: CacheRequest) {
  const range = requestField(headers, "range");
  if (range === undefined || length === null || head.status !== 200 || method !== "GET") {
    return "whole";
  }
  return allowsRange(head.headers, headers, head.receivedAt) ? wantedPart(range, length) : "whole";
}

/** RFC 9111 §5.1: whatever comes from a cache tells its age, and what comes from the origin itself does not. */
export function lastFields(
  { freshness }: StoredHead,
  cacheStatus: CacheStatus,
  now: number,
): readonly string[] {
  const isNew = cacheStatus === "MISS" || cacheStatus === "EXPIRED";
  if (isNew && ageSeconds(freshness, now) === 0) return [STATUS_FIELD, cacheStatus];
  return ["Age", String(ageSeconds(freshness, now)), STATUS_FIELD, cacheStatus];
}
