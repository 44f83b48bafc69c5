/** What an object carries for the headers of its answers: read from a write's, shown in a read's. */
import { httpDate } from "#kit/http-date.ts";
import type { HttpMetadata, ObjectInfo, StorageClass } from "#objects";
import type { HeaderSource, S3Call } from "./call.ts";
import { checksumHeaders } from "./checksums.ts";
import { encryptionHeaders } from "./encryption.ts";
import { S3Fault } from "./fault.ts";
import { decodeWords, encodeWords, fromHeader, toHeader } from "./header-text.ts";

type TextField = Exclude<keyof HttpMetadata, "cacheExpiry">;

/** Each field with its header, and with the query name that overrides it in an answer. */
const TEXT_FIELDS: readonly (readonly [TextField, header: string, override: string])[] = [
  ["contentType", "Content-Type", "response-content-type"],
  ["contentLanguage", "Content-Language", "response-content-language"],
  ["contentDisposition", "Content-Disposition", "response-content-disposition"],
  ["contentEncoding", "Content-Encoding", "response-content-encoding"],
  ["cacheControl", "Cache-Control", "response-cache-control"],
];
const FIELD_HEADERS = TEXT_FIELDS.map(([field, header]) => [field, header.toLowerCase()] as const);

/** What an object is of which nothing else is known. */
const OCTETS = "binary/octet-stream";

const META = "x-amz-meta-";

export function httpMetadataOf(call: HeaderSource): HttpMetadata {
  const http: { -readonly [Field in keyof HttpMetadata]: HttpMetadata[Field] } = {};
  const { headers } = call.request;
  for (const [field, header] of FIELD_HEADERS) {
    const text = headers[header];
    if (typeof text !== "string") continue;
    const value = field === "contentEncoding" ? withoutChunking(text) : fromHeader(text);
    if (value !== "") http[field] = value;
  }
  if (headers.expires !== undefined) http.cacheExpiry = expiryOf(headers.expires);
  return http;
}

/** How the body is framed on its way is none of the object's business. */
function withoutChunking(coding: string): string {
  if (!coding.includes("aws-chunked")) return coding;
  const codings = coding.split(",").map((one) => one.trim());
  return codings.filter((one) => one !== "" && one !== "aws-chunked").join(",");
}

/** Differs from S3: what is no date is refused, since a date is what is kept. */
function expiryOf(text: string): number {
  const date = Date.parse(text);
  if (!Number.isNaN(date)) return date;
  throw new S3Fault("InvalidArgument", "Expires must be a date.", {
    extra: { ArgumentName: "Expires", ArgumentValue: text.slice(0, 80) },
  });
}

export function customMetadataOf(call: HeaderSource): Record<string, string> {
  const custom: Record<string, string> = {};
  for (const [name, value] of call.headersUnder(META)) custom[name] = decodeWords(value);
  return custom;
}

const CLASSES: Readonly<Record<string, StorageClass>> = {
  STANDARD: "Standard",
  STANDARD_IA: "InfrequentAccess",
};

/** Undefined where the request names none. */
export function storageClassOf(call: HeaderSource): StorageClass | undefined {
  const word = call.header("x-amz-storage-class");
  if (word === undefined) return undefined;
  if (Object.hasOwn(CLASSES, word)) return CLASSES[word];
  throw new S3Fault("InvalidStorageClass", undefined, {
    extra: { StorageClassRequested: word.slice(0, 80) },
  });
}

export function classWord(storageClass: StorageClass): "STANDARD" | "STANDARD_IA" {
  return storageClass === "Standard" ? "STANDARD" : "STANDARD_IA";
}

/** Of every answer that carries the object, or tells of it. */
export function objectHeaders(object: ObjectInfo): string[] {
  const headers = [
    "ETag",
    `"${object.etag}"`,
    "Last-Modified",
    httpDate(object.uploadedAt),
    "Accept-Ranges",
    "bytes",
  ];
  if (object.storageClass !== "Standard") {
    headers.push("x-amz-storage-class", classWord(object.storageClass));
  }
  if (object.encryption !== null) headers.push(...encryptionHeaders(object.encryption));
  pushCustom(headers, object.custom);
  let tags = 0;
  for (const _ in object.tags) tags++;
  if (tags > 0) headers.push("x-amz-tagging-count", String(tags));
  return headers;
}

/** Headers of a response that the object carries, unless the request's query sets others. */
export function pushHttpMetadata(headers: string[], { http }: ObjectInfo, call: S3Call): void {
  const isOverridden = call.target.query.some(isOverride);
  for (const [field, header, override] of TEXT_FIELDS) {
    const asked = isOverridden ? call.query(override) : undefined;
    const text = asked ?? http[field] ?? (field === "contentType" ? OCTETS : undefined);
    if (text !== undefined) headers.push(header, toHeader(text));
  }
  const expires = isOverridden ? call.query("response-expires") : undefined;
  if (expires !== undefined) headers.push("Expires", toHeader(expires));
  else if (http.cacheExpiry !== undefined) {
    headers.push("Expires", httpDate(http.cacheExpiry));
  }
}

/** Asked before an object is opened, since nobody would close it. */
export function checkOverrides({ caller, target }: S3Call): void {
  if (caller !== null || !target.query.some(isOverride)) return;
  const message = "Request specific response headers cannot be used for anonymous GET requests.";
  throw new S3Fault("InvalidRequest", message);
}

function isOverride([name]: readonly [name: string, value: string]): boolean {
  return name.startsWith("response-");
}

/** Clients that check what they read want them only for whole objects. */
export function pushChecksums(headers: string[], object: ObjectInfo, call: S3Call): void {
  if (call.header("x-amz-checksum-mode")?.toUpperCase() === "ENABLED") {
    headers.push(...checksumHeaders(object));
  }
}

/** Names that no header can have are counted instead, as R2 does. */
function pushCustom(headers: string[], custom: Readonly<Record<string, string>>): void {
  let missing = 0;
  for (const name in custom) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.push(META + name, encodeWords(custom[name]!));
    else missing++;
  }
  if (missing > 0) headers.push("x-amz-missing-meta", String(missing));
}
