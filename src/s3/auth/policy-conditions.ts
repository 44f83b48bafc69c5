/**
 * The policy of an upload by form: what its signer lets whoever holds it send. "Creating a POST policy" in the
 * S3 API Reference.
 */
import { S3Fault } from "../fault.ts";

export interface PostPolicy {
  /** In ms since the epoch. */
  readonly expiresAt: number;
  readonly conditions: readonly Condition[];
  /** Of the file. */
  readonly leastOctets: number;
  readonly mostOctets: number;
}

export interface Condition {
  readonly operator: "eq" | "starts-with";
  /** Lower case, without its dollar. */
  readonly field: string;
  readonly value: string;
}

type OctetRange = Pick<PostPolicy, "leastOctets" | "mostOctets">;

/** More than any form has fields. */
const MAX_CONDITIONS = 200;

/** `encoded` is the form's field: JSON in base64. */
export function readPolicy(encoded: string): PostPolicy {
  const document = parse(encoded);
  const { expiration, conditions } = document;
  if (!Array.isArray(conditions)) throw invalid("Policy missing conditions.");
  if (conditions.length > MAX_CONDITIONS) throw invalid("It has too many conditions.");
  let range: OctetRange = { leastOctets: 0, mostOctets: Infinity };
  const read: Condition[] = [];
  for (const given of conditions as unknown[]) {
    const list = Array.isArray(given) ? (given as unknown[]) : exactly(given);
    const operator = typeof list[0] === "string" ? list[0].toLowerCase() : "";
    if (operator === "content-length-range") range = within(range, readRange(list));
    else read.push(readCondition(operator, list));
  }
  return { expiresAt: readExpiration(expiration), conditions: read, ...range };
}

/** Throws unless every condition holds, and every field has one. Names in lower case. */
export function holdAgainst(
  { conditions, expiresAt }: PostPolicy,
  fields: ReadonlyMap<string, string>,
  now: number,
): void {
  if (expiresAt <= now) throw denied("Policy expired.");
  for (const { operator, field, value } of conditions) {
    const given = fields.get(field) ?? "";
    if (operator === "eq" ? given === value : given.startsWith(value)) continue;
    throw denied(`Policy Condition failed: ["${operator}", "$${field}", "${value}"]`);
  }
  const covered = new Set(conditions.map(({ field }) => field));
  const extra = [...fields.keys()].filter((name) => !covered.has(name) && !isFree(name));
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(", ").slice(0, 200)}`);
}

/** What carries the policy itself, and what is asked to be left alone. */
const FREE: ReadonlySet<string> = new Set([
  "policy",
  "signature",
  "x-amz-signature",
  "awsaccesskeyid",
  "file",
]);

function isFree(name: string): boolean {
  return FREE.has(name) || name.startsWith("x-ignore-");
}

function parse(encoded: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(Buffer.from(encoded, "base64").toString());
    if (typeof document === "object" && document !== null) {
      return document as Record<string, unknown>;
    }
  } catch {
    // Said below.
  }
  throw invalid("Invalid JSON.");
}

/** `{"name": "value"}` is short for equality. */
function exactly(given: unknown): readonly unknown[] {
  const pairs = typeof given === "object" && given !== null ? Object.entries(given) : [];
  if (pairs.length !== 1) throw invalid("A simple condition must have exactly one property.");
  return ["eq", `$${pairs[0]![0]}`, pairs[0]![1]];
}

function readCondition(operator: string, [, field, value, ...rest]: readonly unknown[]): Condition {
  if (operator !== "eq" && operator !== "starts-with") throw invalid("An operator is not known.");
  const isWhole = typeof field === "string" && field.startsWith("$") && rest.length === 0;
  if (!isWhole || (typeof value !== "string" && typeof value !== "number")) {
    throw invalid(`A condition must be ["${operator}", "$field", "value"].`);
  }
  return { operator, field: field.slice(1).toLowerCase(), value: String(value) };
}

/** As narrow as each of them. */
function within(one: OctetRange, other: OctetRange): OctetRange {
  return {
    leastOctets: Math.max(one.leastOctets, other.leastOctets),
    mostOctets: Math.min(one.mostOctets, other.mostOctets),
  };
}

function readRange([, least, most, ...rest]: readonly unknown[]): OctetRange {
  const isNumber = (given: unknown) =>
    (typeof given === "number" || typeof given === "string") && /^\d{1,15}$/.test(String(given));
  if (!isNumber(least) || !isNumber(most) || rest.length > 0) {
    throw invalid('A range must be ["content-length-range", least, most].');
  }
  return { leastOctets: Number(least), mostOctets: Number(most) };
}

function readExpiration(given: unknown): number {
  if (given === undefined) throw invalid("Policy missing expiration.");
  const isTime =
    typeof given === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(given);
  const at = isTime ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) throw invalid("Its expiration must be a time like 2026-11-15T00:00:00Z.");
  return at;
}

function invalid(why: string): S3Fault {
  return new S3Fault("InvalidPolicyDocument", `Invalid Policy: ${why}`);
}

function denied(why: string): S3Fault {
  return new S3Fault("AccessDenied", `Invalid according to Policy: ${why}`);
}
