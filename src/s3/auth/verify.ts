/** Holds a request against its signature. AWS Signature Version 4. */
import { sameDigest } from "#kit/secrets.ts";
import { canonicalRequest, escapePairs, escapePath, sign, stringToSign } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import { decoded } from "../target.ts";
import type { Claim, SignedRequest } from "./request.ts";

/** Beside those of S3's own: it makes more of a write than what was signed. */
const CREATES_BUCKET = "cf-create-bucket-if-missing";

/** Content delivery networks add it on the way, so that nobody can have signed it. */
const ADDED_ON_THE_WAY = "x-amz-cf-id";

/** Throws unless the request was signed, with all that counts, by this key. */
export function verify(request: SignedRequest, claim: Claim, signingKey: Buffer): void {
  checkSignedHeaders(request, claim);
  const { rawPath, hosts } = request;
  const query = escapePairs(claim.query);
  const signedAs = (path: string, host: string) =>
    canonicalRequest({
      method: request.method,
      path,
      query,
      headers: claim.signedHeaders.map((name) => [
        name,
        name === "host" ? host : valueOf(request.headers, name),
      ]),
      payloadHash: claim.payloadHash,
    });
  // What the client may have signed, the likeliest first: proxies change hosts, and clients differ.
  const path = normalized(rawPath);
  for (const one of path === rawPath ? [rawPath] : [path, rawPath]) {
    for (const host of hosts) if (isSignatureOf(signedAs(one, host), claim, signingKey)) return;
  }
  throw mismatch(signedAs(path, hosts[0]!), claim);
}

function isSignatureOf(canonical: string, claim: Claim, signingKey: Buffer): boolean {
  const { time, credential, signature } = claim;
  const holds = (octets: string | Uint8Array) =>
    sameDigest(sign(signingKey, stringToSign(time, credential.scope, octets)), signature);
  if (Buffer.byteLength(canonical) === canonical.length) return holds(canonical);
  // A client that sends "é" as one octet has often signed the two of UTF-8.
  return holds(Buffer.from(canonical, "latin1")) || holds(canonical);
}

function mismatch(canonical: string, { credential, time, signature }: Claim): S3Fault {
  const toSign = stringToSign(time, credential.scope, Buffer.from(canonical, "latin1"));
  return new S3Fault("SignatureDoesNotMatch", undefined, {
    extra: {
      AWSAccessKeyId: credential.accessKeyId,
      StringToSign: toSign,
      SignatureProvided: signature,
      StringToSignBytes: spelled(toSign),
      CanonicalRequest: canonical,
      CanonicalRequestBytes: spelled(canonical),
    },
  });
}

/** Empty for one that was not sent. Names are strangers' own: a record has `constructor` by itself. */
function valueOf(headers: SignedRequest["headers"], name: string): string {
  return Object.hasOwn(headers, name) ? (headers[name] ?? "") : "";
}

/** Escaped once, in the one way that signing knows, whatever the client sent. It must name what the door reads. */
function normalized(rawPath: string): string {
  try {
    return escapePath(decoded(rawPath));
  } catch {
    return rawPath;
  }
}

/** Whoever could change a header that S3 listens to, and was not signed, could change what is done. */
function checkSignedHeaders({ headers }: SignedRequest, { signedHeaders }: Claim): void {
  const unsigned = signedHeaders.includes("host") ? [] : ["host"];
  for (const name in headers) {
    const isHeard = name.startsWith("x-amz-") || name === CREATES_BUCKET;
    if (!isHeard || name === ADDED_ON_THE_WAY) continue;
    if (!signedHeaders.includes(name)) unsigned.push(name);
  }
  if (unsigned.length === 0) return;
  const message = "There were headers present in the request which were not signed";
  const extra = { HeadersNotSigned: unsigned.join(", ") };
  throw new S3Fault("AccessDenied", message, { extra });
}

/** Octets in hex: what looks alike may differ. */
function spelled(text: string): string {
  return Buffer.from(text, "latin1").toString("hex").replaceAll(/../g, "$& ").trimEnd();
}
