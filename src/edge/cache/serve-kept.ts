/** The answer from a stored response, wherever its octets are. */
import { answerFrom, isPlain } from "./answer.ts";
import type { Kept } from "./kept.ts";
import type { CachedResponse, CacheRequest, CacheStatus } from "./messages.ts";
import type { Span } from "./ranges.ts";
import type { Shelf } from "./shelf.ts";
import { isInFile } from "./stored.ts";

/** What is in memory is answered at once. Null when it was in a file that has gone in the meantime. */
export function serveKept(
  shelf: Shelf,
  kept: Kept,
  request: CacheRequest,
  cacheStatus: CacheStatus,
  now: number,
): CachedResponse | Promise<CachedResponse | null> {
  const { head, body } = kept;
  if (isInFile(body)) return serveFile(shelf, kept, request, cacheStatus, now);
  if (cacheStatus === "HIT" && isPlain(request)) {
    return { status: head.status, headers: kept.headersAt(now), body, cacheStatus };
  }
  const read = ({ start, end }: Span) => body.subarray(start, end);
  return answerFrom(head, body.length, read, request, cacheStatus, now);
}

async function serveFile(
  shelf: Shelf,
  kept: Kept,
  request: CacheRequest,
  cacheStatus: CacheStatus,
  now: number,
): Promise<CachedResponse | null> {
  let wanted: Span | null = null;
  const note = (span: Span) => ((wanted = span), EMPTY);
  const answer = answerFrom(kept.head, kept.body.length, note, request, cacheStatus, now);
  if (wanted === null) return answer;
  const pieces = await shelf.open(kept, wanted);
  return pieces && { ...answer, body: pieces };
}

const EMPTY = new Uint8Array(0);
