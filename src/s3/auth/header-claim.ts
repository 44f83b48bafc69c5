/** A signature in the Authorization header. */
import { ALGORITHM, basicTime } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import {
  readBasicTime,
  readCredential,
  readSignedHeaders,
  SIGNATURE_FORM,
} from "./credential-scope.ts";
import type { Claim, SignedRequest } from "./request.ts";

/** Further off than this a clock is wrong, or a request was kept to be sent again. */
const MAX_SKEW_MS = 15 * 60_000;

export function headerClaim(
  { headers, query }: SignedRequest,
  authorization: string,
  now: number,
): Claim {
  const fields = fieldsOf(authorization);
  const { at, time } = timeOf(headers);
  if (Math.abs(now - at) > MAX_SKEW_MS) {
    throw new S3Fault("RequestTimeTooSkewed", undefined, {
      extra: {
        RequestTime: time,
        ServerTime: new Date(now).toISOString(),
        MaxAllowedSkewMilliseconds: String(MAX_SKEW_MS),
      },
    });
  }
  const credential = readCredential(fields.get("Credential") ?? "", time);
  if (typeof credential === "string") throw malformed(credential);
  const signedHeaders = readSignedHeaders(fields.get("SignedHeaders") ?? "");
  if (signedHeaders === null) throw malformed("The SignedHeaders must be header names.");
  const signature = fields.get("Signature") ?? "";
  if (!SIGNATURE_FORM.test(signature)) throw malformed("The Signature must have 64 hex digits.");
  const payloadHash = headers["x-amz-content-sha256"];
  if (payloadHash === undefined) {
    const message = "Missing required header for this request: x-amz-content-sha256";
    throw new S3Fault("InvalidRequest", message);
  }
  const sessionToken = headers["x-amz-security-token"] ?? null;
  const proof = {
    credential,
    time,
    signedHeaders,
    signature,
    payloadHash,
    sessionToken,
    life: null,
  };
  return { ...proof, query, hoisted: [] };
}

/** What follows the algorithm; a comma parts the fields, with or without a blank. */
function fieldsOf(authorization: string): Map<string, string> {
  const [, algorithm = "", rest = ""] = /^(\S*)\s*(.*)$/.exec(authorization) ?? [];
  if (algorithm === "AWS" || algorithm.startsWith("AWS4-ECDSA-")) throw otherVersion(algorithm);
  if (algorithm !== ALGORITHM) {
    // Not the value: it may be a secret that went astray.
    const extra = { ArgumentName: "Authorization" };
    throw new S3Fault("InvalidArgument", "Unsupported Authorization Type", { extra });
  }
  const fields = rest.split(",").map((field) => field.trim());
  return new Map(
    fields.map((field) => {
      const equals = field.indexOf("=");
      return [field.slice(0, equals), field.slice(equals + 1)];
    }),
  );
}

/** Signatures of versions 2 and 4A. */
export function otherVersion(version: string): S3Fault {
  const which = version === "AWS" ? "Signature Version 2" : version;
  const message = `The authorization mechanism you have provided (${which}) is not supported. Please use ${ALGORITHM}.`;
  return new S3Fault("InvalidRequest", message);
}

function timeOf(headers: SignedRequest["headers"]): { at: number; time: string } {
  const given = headers["x-amz-date"] ?? headers["date"];
  if (given === undefined) {
    throw new S3Fault("AccessDenied", "A signed request needs a valid Date or x-amz-date header.");
  }
  const basic = readBasicTime(given);
  if (basic !== null) return { at: basic, time: given };
  const at = Date.parse(given);
  if (!Number.isNaN(at)) return { at, time: basicTime(at) };
  throw new S3Fault(
    "AccessDenied",
    `The date of the request cannot be read: "${given.slice(0, 40)}"`,
  );
}

function malformed(why: string): S3Fault {
  const message = `The authorization header is malformed. ${why}`;
  return new S3Fault("AuthorizationHeaderMalformed", message);
}
