/** Which pages of other origins may use a bucket, and what of an answer they see. */
import { ObjectFault } from "../fault.ts";

const CORS_METHODS = ["GET", "PUT", "HEAD", "POST", "DELETE"] as const;

export interface CorsRule {
  readonly id?: string;
  /** As browsers spell them: `https://example.com:8443`. One `*` stands for anything. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** That a request may carry; `*` as above, in any case. */
  readonly headers: readonly string[];
  /** Of the answer, that a page may read. */
  readonly exposed: readonly string[];
  readonly maxAgeSeconds?: number;
}

/** Those of S3. */
const MAX_RULES = 100;
const MAX_ID_CHARACTERS = 255;
/** Each is tried for every request with an origin. */
const MAX_ENTRIES = 100;
const MAX_ENTRY_CHARACTERS = 1_024;

/** RFC 9110 §5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const ORIGIN = /^[\u0021-\u007E]+$/;

/** Throws unless rules can be kept. */
export function checkCors(rules: readonly CorsRule[]): void {
  if (rules.length === 0) throw bad("There must be a rule");
  if (rules.length > MAX_RULES) throw bad(`There may be at most ${MAX_RULES} rules`);
  for (const rule of rules) checkRule(rule);
}

function checkRule({ id = "", origins, methods, headers, exposed, maxAgeSeconds }: CorsRule): void {
  if (id.length > MAX_ID_CHARACTERS) {
    throw bad(`A rule's ID has at most ${MAX_ID_CHARACTERS} characters`);
  }
  if (origins.length === 0) throw bad("A rule needs an AllowedOrigin");
  if (methods.length === 0) throw bad("A rule needs an AllowedMethod");
  for (const entries of [origins, methods, headers, exposed]) {
    if (entries.length > MAX_ENTRIES) throw bad(`A rule lists at most ${MAX_ENTRIES} of a kind`);
  }
  for (const method of methods) {
    if ((CORS_METHODS as readonly string[]).includes(method)) continue;
    throw bad(`AllowedMethod ${shown(method)} is none of ${CORS_METHODS.join(", ")}`);
  }
  for (const origin of origins) checkEntry("AllowedOrigin", origin, ORIGIN);
  for (const header of headers) checkEntry("AllowedHeader", header, HEADER_NAME);
  for (const header of exposed) {
    checkEntry("ExposeHeader", header, HEADER_NAME);
    if (header.includes("*")) throw bad(`ExposeHeader ${shown(header)} may have no wildcard`);
  }
  const isAge =
    maxAgeSeconds === undefined || (Number.isSafeInteger(maxAgeSeconds) && maxAgeSeconds >= 0);
  if (!isAge) throw bad("MaxAgeSeconds must be a whole number of seconds");
}

function checkEntry(name: string, entry: string, pattern: RegExp): void {
  if (entry.length > MAX_ENTRY_CHARACTERS || !pattern.test(entry)) {
    throw bad(`${name} ${shown(entry)} is not valid`);
  }
  if (entry.indexOf("*") !== entry.lastIndexOf("*")) {
    throw bad(`${name} ${shown(entry)} may have one wildcard, not more`);
  }
}

function shown(entry: string): string {
  return JSON.stringify(entry.slice(0, 80));
}

function bad(message: string): ObjectFault {
  return new ObjectFault("bad-cors", message);
}
