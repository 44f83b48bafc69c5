/** SSE-C: objects encrypted with a key that comes with each request and is never kept. */
import { hash } from "node:crypto";
import type { CustomerKey } from "#objects";
import type { HeaderSource } from "./call.ts";
import { S3Fault } from "./fault.ts";

const HEADER = "x-amz-server-side-encryption-customer";
const KEY_OCTETS = 32;

/** `of` is what the object is that the key opens: that of the request, or the source of a copy. */
export function customerKeyOf(call: HeaderSource, of: "" | "source" = ""): CustomerKey | undefined {
  const prefix = of === "source" ? HEADER.replace("x-amz-", "x-amz-copy-source-") : HEADER;
  const algorithm = call.header(`${prefix}-algorithm`);
  const text = call.header(`${prefix}-key`);
  const md5 = call.header(`${prefix}-key-md5`);
  if (algorithm === undefined && text === undefined && md5 === undefined) return undefined;
  if (algorithm !== "AES256") {
    throw new S3Fault("InvalidEncryptionAlgorithmError", undefined, {
      extra: { ArgumentName: `${prefix}-algorithm`, ArgumentValue: algorithm ?? "" },
    });
  }
  const key = Buffer.from(text ?? "", "base64");
  if (key.length !== KEY_OCTETS) {
    const message = "The secret key must be 256 bits long, in base64.";
    throw new S3Fault("InvalidArgument", message, { extra: { ArgumentName: `${prefix}-key` } });
  }
  if (md5 !== undefined && hash("md5", key, "base64") !== md5) {
    const message = "The calculated MD5 hash of the key did not match the hash that was provided.";
    throw new S3Fault("InvalidArgument", message, { extra: { ArgumentName: `${prefix}-key-MD5` } });
  }
  return { key };
}

/** Headers that tell of it; none for what is not encrypted so. */
export function encryptionHeaders(encryption: { readonly keyMd5: string } | null): string[] {
  if (encryption === null) return [];
  return [`${HEADER}-algorithm`, "AES256", `${HEADER}-key-MD5`, encryption.keyMd5];
}
