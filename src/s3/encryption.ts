/** SSE-C: objects encrypted with a key that comes with each request and is never kept. */
import { hash } from "node:crypto";
import type { CustomerKey } from "#objects";
import type { HeaderSource } from "./call.ts";
import { S3Fault } from "./fault.ts";

const HEADER = "x-amz-server-side-encryption-customer";
const KEY_OCTETS = 32;

/** Of the request's own key, and of a copy's source: made once, since each request asks for them. */
const NAMES = {
  "": namesUnder(HEADER),
  source: namesUnder(HEADER.replace("x-amz-", "x-amz-copy-source-")),
};

function namesUnder(prefix: string) {
  return { algorithm: `${prefix}-algorithm`, key: `${prefix}-key`, md5: `${prefix}-key-md5` };
}

/** `of` is what the object is that the key opens: that of the request, or the source of a copy. */
export function customerKeyOf(call: HeaderSource, of: "" | "source" = ""): CustomerKey | undefined {
  const names = NAMES[of];
  const algorithm = call.header(names.algorithm);
  const text = call.header(names.key);
  const md5 = call.header(names.md5);
  if (algorithm === undefined && text === undefined && md5 === undefined) return undefined;
  if (algorithm !== "AES256") {
    throw new S3Fault("InvalidEncryptionAlgorithmError", undefined, {
      extra: { ArgumentName: names.algorithm, ArgumentValue: algorithm ?? "" },
    });
  }
  const key = Buffer.from(text ?? "", "base64");
  if (key.length !== KEY_OCTETS) {
    const message = "The secret key must be 256 bits long, in base64.";
    throw new S3Fault("InvalidArgument", message, { extra: { ArgumentName: names.key } });
  }
  // S3 wants it always: a key that was garbled on its way would lock the object up for good.
  if (hash("md5", key, "base64") !== md5) {
    const message = "The MD5 hash of the key must be given, and did not match the key.";
    throw new S3Fault("InvalidArgument", message, { extra: { ArgumentName: `${names.key}-MD5` } });
  }
  return { key };
}

/** Headers that tell of it; none for what is not encrypted so. */
export function encryptionHeaders(encryption: { readonly keyMd5: string } | null): string[] {
  if (encryption === null) return [];
  return [`${HEADER}-algorithm`, "AES256", `${HEADER}-key-MD5`, encryption.keyMd5];
}
