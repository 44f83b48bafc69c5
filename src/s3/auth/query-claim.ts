/** A signature in the query: a presigned URL. */
import { ALGORITHM } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import {
  readBasicTime,
  readCredential,
  readSignedHeaders,
  SIGNATURE_FORM,
} from "./credential-scope.ts";
import { otherVersion } from "./header-claim.ts";
import type { Claim, SignedRequest } from "./request.ts";

/** Seven days, as long as the original allows. */
const MAX_EXPIRES_SECONDS = 604_800;
/** A clock ahead of ours by so much may sign. */
const MAX_SKEW_MS = 15 * 60_000;

export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

/** `given` is the query, its names in lower case. */
export function queryClaim(
  given: ReadonlyMap<string, string>,
  headers: SignedRequest["headers"],
  now: number,
): Claim {
  const algorithm = given.get("x-amz-algorithm") ?? "";
  if (algorithm.startsWith("AWS4-ECDSA-")) throw otherVersion(algorithm);
  if (algorithm !== ALGORITHM) throw malformed(`X-Amz-Algorithm must be "${ALGORITHM}".`);
  const time = given.get("x-amz-date") ?? "";
  const at = readBasicTime(time);
  if (at === null) throw malformed('X-Amz-Date must have the form "YYYYMMDDThhmmssZ".');
  const credential = readCredential(given.get("x-amz-credential") ?? "", time);
  if (typeof credential === "string") throw malformed(credential);
  const signedHeaders = readSignedHeaders(given.get("x-amz-signedheaders") ?? "");
  if (signedHeaders === null) throw malformed("X-Amz-SignedHeaders must be header names.");
  const signature = given.get("x-amz-signature") ?? "";
  if (!SIGNATURE_FORM.test(signature)) throw malformed("X-Amz-Signature must have 64 hex digits.");
  checkLife(given.get("x-amz-expires") ?? "", at, now);
  const payloadHash =
    given.get("x-amz-content-sha256") ?? headers["x-amz-content-sha256"] ?? UNSIGNED_PAYLOAD;
  const sessionToken = given.get("x-amz-security-token") ?? headers["x-amz-security-token"] ?? null;
  const isPresigned = true;
  return { ...credential, time, signedHeaders, signature, payloadHash, sessionToken, isPresigned };
}

function checkLife(expires: string, at: number, now: number): void {
  if (!/^-?\d{1,12}$/.test(expires)) throw malformed("X-Amz-Expires must be a number of seconds.");
  const seconds = Number(expires);
  if (seconds < 1 || seconds > MAX_EXPIRES_SECONDS) {
    // Differs from AWS, which answers 400: the compatibility tests in use want 403.
    const message = `X-Amz-Expires must be from 1 to ${MAX_EXPIRES_SECONDS} seconds.`;
    throw new S3Fault("AuthorizationQueryParametersError", message, { status: 403 });
  }
  const expiresAt = at + seconds * 1_000;
  if (now < expiresAt && at - now <= MAX_SKEW_MS) return;
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
