/** A stored response: its head, made once from what the origin sent, and where its octets are. */
import { type Directives } from "./cache-control.ts";
import { directivesOf, type Exchange, type Freshness, freshnessOf } from "./freshness.ts";
import { fieldOf, type RawHeaders, type RequestHeaders, withoutFields } from "./headers.ts";
import type { CacheRequest, OriginResponse } from "./messages.ts";
import { allowsAuthorized, mayStore, unkeptFields } from "./storable.ts";
import { varyNames, variantOf } from "./vary.ts";
import { updatedHeaders } from "./validators.ts";

/** Plain data, for it is written to disk as it stands. */
export interface StoredHead {
  readonly key: string;
  /** The request fields that tell its variants apart, and what they said. */
  readonly vary: readonly string[];
  readonly variant: string;
  readonly status: number;
  readonly headers: RawHeaders;
  readonly receivedAt: number;
  readonly freshness: Freshness;
  /** Whether requests with credentials may have it. */
  readonly forAuthorized: boolean;
  /** The last purge that was known when it was asked for: later ones may mean it. */
  readonly purge: number;
}

/** The octets of a large response, in a file of their own. */
export interface FileBody {
  /** The name of the file. */
  readonly file: string;
  readonly length: number;
  /** The CRC-32 of each piece. */
  readonly sums: readonly number[];
}

export interface Stored {
  readonly head: StoredHead;
  readonly body: Uint8Array | FileBody;
}

export function isInFile(body: Stored["body"]): body is FileBody {
  return !(body instanceof Uint8Array);
}

/** The head to keep, or null when the response must not be kept. */
export function headFor(
  key: string,
  request: Pick<CacheRequest, "headers">,
  asked: Directives,
  { status, headers }: Pick<OriginResponse, "status" | "headers">,
  exchange: Exchange,
  purge: number,
): StoredHead | null {
  const directives = directivesOf(headers);
  const freshness = freshnessOf(status, headers, directives, exchange);
  if (!mayStore(asked, request.headers, status, headers, directives, freshness)) return null;
  const vary = varyNames(headers);
  return {
    key,
    vary,
    variant: variantOf(vary, request.headers),
    status,
    headers: dated(withoutFields(headers, unkeptFields(directives)), exchange.receivedAt),
    receivedAt: exchange.receivedAt,
    freshness,
    forAuthorized: allowsAuthorized(directives),
    purge,
  };
}

/** RFC 9110 §6.6.1: what comes without a date gets that of its arrival. */
function dated(headers: string[], receivedAt: number): string[] {
  if (fieldOf(headers, "date") === null) headers.push("Date", new Date(receivedAt).toUTCString());
  return headers;
}

/** The head after the origin has said that it holds; null when it may no longer be kept. RFC 9111 §4.3.4. */
export function renewedHead(
  { key, vary, variant, status, headers }: StoredHead,
  request: RequestHeaders,
  notModified: RawHeaders,
  exchange: Exchange,
  purge: number,
): StoredHead | null {
  const updated = updatedHeaders(headers, notModified);
  const response = { status, headers: updated };
  const head = headFor(key, { headers: request }, new Map(), response, exchange, purge);
  // It stays the variant that it is, whatever the 304 says of others.
  return head === null ? null : { ...head, vary, variant };
}

/** With the length of its octets, now that all have come. */
export function withLength(head: StoredHead, length: number): StoredHead {
  if (head.status === 204 || fieldOf(head.headers, "content-length") !== null) return head;
  return { ...head, headers: [...head.headers, "Content-Length", String(length)] };
}
