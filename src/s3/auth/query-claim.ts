/** A signature in the query: a presigned URL. */
import { remember } from "#kit/remember.ts";
import { ALGORITHM } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import {
  readBasicTime,
  readCredential,
  readSignedHeaders,
  SIGNATURE_FORM,
} from "./credential-scope.ts";
import { otherVersion } from "./header-claim.ts";
import type { Claim, Life, SignedRequest } from "./request.ts";

/** Seven days, as long as the original allows. */
const MAX_EXPIRES_SECONDS = 604_800;
/** A clock ahead of ours by so much may sign. */
const MAX_SKEW_MS = 15 * 60_000;

export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

/** By lower-case name. The last two are of an older signature. */
const FIELDS = {
  "x-amz-algorithm": "algorithm",
  "x-amz-content-sha256": "payloadHash",
  "x-amz-credential": "credential",
  "x-amz-date": "time",
  "x-amz-expires": "expires",
  "x-amz-security-token": "sessionToken",
  "x-amz-signature": "signature",
  "x-amz-signedheaders": "signedHeaders",
  awsaccesskeyid: "olderKey",
  signature: "olderSignature",
} as const;

type Field = (typeof FIELDS)[keyof typeof FIELDS];

/** What a query says of its signature; undefined where it does not. */
type Given = { [Name in Field]: string | undefined } & {
  /** All but the signature itself. */
  readonly signed: Pair[];
  /** Headers of S3's that stand here instead, with their names in lower case. */
  readonly hoisted: Pair[];
};

type Pair = SignedRequest["query"][number];

/** What a name of a query is to a signature, in whichever case it is written. */
const meaningOf = remember((name) => {
  const header = name.toLowerCase();
  const field = Object.hasOwn(FIELDS, header) ? FIELDS[header as keyof typeof FIELDS] : null;
  return { field, hoisted: field === null && header.startsWith("x-amz-") ? header : null };
});

/** Of a name that comes more than once the last is heard. */
export function readSignature(query: SignedRequest["query"]): Given {
  const given: Given = {
    algorithm: undefined,
    payloadHash: undefined,
    credential: undefined,
    time: undefined,
    expires: undefined,
    sessionToken: undefined,
    signature: undefined,
    signedHeaders: undefined,
    olderKey: undefined,
    olderSignature: undefined,
    signed: [],
    hoisted: [],
  };
  for (const pair of query) {
    const [name, value] = pair;
    const { field, hoisted } = meaningOf(name);
    if (field !== null) given[field] = value;
    else if (hoisted !== null) given.hoisted.push([hoisted, value]);
    if (field !== "signature") given.signed.push(pair);
  }
  return given;
}

export function queryClaim(given: Given, headers: SignedRequest["headers"], now: number): Claim {
  const { algorithm = "", time = "", signature = "" } = given;
  if (algorithm.startsWith("AWS4-ECDSA-")) throw otherVersion(algorithm);
  if (algorithm !== ALGORITHM) throw malformed(`X-Amz-Algorithm must be "${ALGORITHM}".`);
  const at = readBasicTime(time);
  if (at === null) throw malformed('X-Amz-Date must have the form "YYYYMMDDThhmmssZ".');
  const credential = readCredential(given.credential ?? "", time);
  if (typeof credential === "string") throw malformed(credential);
  const signedHeaders = readSignedHeaders(given.signedHeaders ?? "");
  if (signedHeaders === null) throw malformed("X-Amz-SignedHeaders must be header names.");
  if (!SIGNATURE_FORM.test(signature)) throw malformed("X-Amz-Signature must have 64 hex digits.");
  const life = readLife(given.expires ?? "", at, now);
  return {
    credential,
    time,
    signedHeaders,
    signature,
    payloadHash: given.payloadHash ?? headers["x-amz-content-sha256"] ?? UNSIGNED_PAYLOAD,
    life,
    sessionToken: given.sessionToken ?? headers["x-amz-security-token"] ?? null,
    query: given.signed,
    hoisted: given.hoisted,
  };
}

/** Throws unless it is alive. */
function readLife(expires: string, at: number, now: number): Life {
  if (!/^-?\d{1,12}$/.test(expires)) throw malformed("X-Amz-Expires must be a number of seconds.");
  const seconds = Number(expires);
  if (seconds < 1 || seconds > MAX_EXPIRES_SECONDS) {
    // Differs from AWS, which answers 400: the compatibility tests in use want 403.
    const message = `X-Amz-Expires must be from 1 to ${MAX_EXPIRES_SECONDS} seconds.`;
    throw new S3Fault("AuthorizationQueryParametersError", message, { status: 403 });
  }
  const expiresAt = at + seconds * 1_000;
  const life = { from: at - MAX_SKEW_MS, until: expiresAt };
  if (now >= life.from && now < life.until) return life;
  const message = now >= expiresAt ? "Request has expired" : "Request is not yet valid";
  throw new S3Fault("AccessDenied", message, {
    extra: {
      "X-Amz-Expires": expires,
      Expires: new Date(expiresAt).toISOString(),
      ServerTime: new Date(now).toISOString(),
    },
  });
}

function malformed(why: string): S3Fault {
  const message = `The authorization parameters of the URL are malformed. ${why}`;
  return new S3Fault("AuthorizationQueryParametersError", message);
}
