/** An object in the API's spelling, and its metadata in headers. */
import type { IncomingHttpHeaders } from "node:http";
import type { Conditions, HttpMetadata, ObjectInfo } from "#objects";
import { invalidFields } from "../errors.ts";
import { showTime } from "../shapes.ts";

type TextField = Exclude<keyof HttpMetadata, "cacheExpiry">;

/** The type is sent by itself. */
const HEADERS: readonly (readonly [Exclude<TextField, "contentType">, string])[] = [
  ["contentLanguage", "content-language"],
  ["contentDisposition", "content-disposition"],
  ["contentEncoding", "content-encoding"],
  ["cacheControl", "cache-control"],
];

export function httpMetadataOf(headers: IncomingHttpHeaders): HttpMetadata {
  const http: Partial<Record<TextField, string>> = {};
  for (const [field, header] of [["contentType", "content-type"] as const, ...HEADERS]) {
    const text = headers[header];
    // Node reads octets as Latin-1; what is UTF-8 shall be text.
    if (typeof text === "string") http[field] = Buffer.from(text, "latin1").toString();
  }
  return { ...http, ...expiryOf(headers) };
}

/** An HTTP date, or any other that its user has typed: wrangler sends it as it is. */
function expiryOf({ expires }: IncomingHttpHeaders): { cacheExpiry?: number } {
  if (expires === undefined) return {};
  const cacheExpiry = Date.parse(expires);
  if (!Number.isNaN(cacheExpiry)) return { cacheExpiry };
  throw invalidFields([{ pointer: "/expires", message: `expires: "${expires}" is not a date` }]);
}

/** What a client has already need not be sent again. RFC 9110 §13.1.2, §13.1.3. */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  const { "if-none-match": tags, "if-modified-since": since = "" } = headers;
  if (tags !== undefined) {
    if (tags.trim() === "*") return { etagDoesNotMatch: [{ type: "wildcard" }] };
    const found = [...tags.matchAll(/(W\/)?"([^"]*)"/g)];
    if (found.length === 0) return {};
    return {
      etagDoesNotMatch: found.map(([, weak, value = ""]) => ({
        type: weak === undefined ? "strong" : "weak",
        value,
      })),
    };
  }
  const uploadedAfter = Date.parse(since);
  return Number.isNaN(uploadedAfter) ? {} : { uploadedAfter, secondsGranularity: true };
}

/** What an object is of which nothing else is known. */
const OCTETS = "application/octet-stream";

export function typeOf({ http }: ObjectInfo): string {
  return headerValue(http.contentType ?? OCTETS);
}

/** Headers of a response that carries the object. */
export function headersOf({ http, etag, uploadedAt }: ObjectInfo): Record<string, string> {
  const headers: Record<string, string> = {
    ETag: `"${etag}"`,
    "Last-Modified": new Date(uploadedAt).toUTCString(),
  };
  for (const [field, header] of HEADERS) {
    const text = http[field];
    if (text !== undefined) headers[header] = headerValue(text);
  }
  if (http.cacheExpiry !== undefined) {
    headers["Expires"] = new Date(http.cacheExpiry).toUTCString();
  }
  return headers;
}

/** Metadata that did not come in headers may hold what these cannot. */
function headerValue(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, " ")).toString("latin1");
}

export function showListed(object: ObjectInfo): object {
  const { key, etag, uploadedAt, size, http, custom, storageClass } = object;
  const { cacheExpiry, ...texts } = http;
  return {
    key,
    etag,
    last_modified: showTime(uploadedAt),
    size,
    http_metadata: {
      ...texts,
      ...(cacheExpiry !== undefined && { cacheExpiry: showTime(cacheExpiry) }),
    },
    custom_metadata: custom,
    ssec: false,
    storage_class: storageClass,
  };
}

export function showStored({
  key,
  etag,
  uploadedAt,
  size,
  storageClass,
  version,
}: ObjectInfo): object {
  return {
    key,
    etag,
    size: String(size), // As the original has it.
    uploaded: showTime(uploadedAt),
    version,
    storage_class: storageClass,
  };
}
