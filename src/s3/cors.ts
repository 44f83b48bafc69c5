/**
 * Whether pages of another origin may use a bucket: the answer to a browser that asks beforehand, and the headers
 * by which it lets the page see the answer to the request itself. The Fetch standard, §3.2, as S3 does it.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { CorsRule, ObjectStore } from "#objects";
import { toS3Fault } from "./errors.ts";
import { S3Fault } from "./fault.ts";
import type { S3Answer } from "./operation.ts";

const VARY = ["Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"];

/** Answers OPTIONS, which nobody signs. */
export async function preflight(
  store: ObjectStore,
  bucketName: string,
  headers: IncomingHttpHeaders,
): Promise<S3Answer> {
  const { origin, "access-control-request-method": method } = headers;
  if (origin === undefined || method === undefined) {
    const message =
      "Insufficient information. Origin and Access-Control-Request-Method are needed.";
    throw new S3Fault("BadRequest", message);
  }
  const wanted = listed(headers["access-control-request-headers"]);
  const found = findRule(await rulesOf(store, bucketName), { origin, method, wanted });
  if (found === null) throw new S3Fault("AccessForbidden");
  const allowed = wanted.length > 0 ? ["Access-Control-Allow-Headers", wanted.join(", ")] : [];
  return { headers: [...headersOf(found, origin), ...allowed] };
}

/** What any answer to a request with an origin gets, be it an error; nothing where no rule fits. */
export async function corsHeaders(
  store: ObjectStore,
  bucketName: string,
  { method = "", headers }: Pick<IncomingMessage, "method" | "headers">,
): Promise<readonly string[]> {
  const { origin } = headers;
  if (origin === undefined || bucketName === "") return [];
  const rules = await rulesOf(store, bucketName);
  if (rules.length === 0) return [];
  // Clients that try out rules name the method that they mean on another request.
  const meant = headers["access-control-request-method"] ?? method;
  const found = findRule(rules, { origin, method: meant, wanted: [] });
  return found === null ? VARY : headersOf(found, origin);
}

/** None of a bucket that is not there, nor while the store cannot tell: the request has its own answer. */
async function rulesOf(store: ObjectStore, bucketName: string): Promise<readonly CorsRule[]> {
  try {
    const bucket = await store.bucket(bucketName);
    return (await store.setting(bucket, "cors")) ?? [];
  } catch (error) {
    if (toS3Fault(error) === null) throw error;
    return [];
  }
}

interface CorsRequest {
  readonly origin: string;
  readonly method: string;
  /** Headers that the request will carry. */
  readonly wanted: readonly string[];
}

interface Found {
  readonly rule: CorsRule;
  /** Whether it lets in everyone: the answer names no origin then. */
  readonly isForAll: boolean;
}

/** The first rule that fits. */
function findRule(
  rules: readonly CorsRule[],
  { origin, method, wanted }: CorsRequest,
): Found | null {
  for (const rule of rules) {
    const pattern = rule.origins.find((allowed) => fits(allowed, origin));
    if (pattern === undefined || !rule.methods.includes(method)) continue;
    const mayCarry = (name: string) =>
      rule.headers.some((allowed) => fits(allowed.toLowerCase(), name.toLowerCase()));
    if (wanted.every(mayCarry)) return { rule, isForAll: pattern === "*" };
  }
  return null;
}

/** A `*` in the pattern, of which there is at most one, stands for anything. */
function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf("*");
  if (star === -1) return pattern === text;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return (
    text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after)
  );
}

function headersOf({ rule, isForAll }: Found, origin: string): string[] {
  const { methods, exposed, maxAgeSeconds } = rule;
  return [
    "Access-Control-Allow-Origin",
    isForAll ? "*" : origin,
    ...(isForAll ? [] : ["Access-Control-Allow-Credentials", "true"]),
    "Access-Control-Allow-Methods",
    methods.join(", "),
    ...(exposed.length > 0 ? ["Access-Control-Expose-Headers", exposed.join(", ")] : []),
    ...(maxAgeSeconds === undefined ? [] : ["Access-Control-Max-Age", String(maxAgeSeconds)]),
    ...VARY,
  ];
}

function listed(header: string | string[] | undefined): string[] {
  return String(header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
