/** A small body read whole, up to a limit, and held against its checksums: the core does so for objects. */
import { BodyTooLarge } from "#http";
import { digestOf, type ExpectedChecksum } from "#objects";
import type { S3Call } from "./call.ts";
import { S3Fault } from "./fault.ts";

/** With `apart`, checksums of the head are not the body's. */
export async function readWhole(
  call: S3Call,
  limit: number,
  { apart = false }: { readonly apart?: boolean } = {},
): Promise<Buffer> {
  const { headers } = call.request;
  const declared = headers["x-amz-decoded-content-length"] ?? headers["content-length"];
  if (Number(declared) > limit) throw new BodyTooLarge(limit);
  if (declared === undefined && headers["transfer-encoding"] === undefined) return Buffer.alloc(0);
  const { body, length, checksums } = apart ? call.payloadApart() : call.payload();
  const octets =
    body instanceof Uint8Array
      ? Buffer.from(body.buffer, body.byteOffset, body.length)
      : await gathered(body, limit);
  if (length !== null && length !== octets.length) throw new S3Fault("IncompleteBody");
  for (const checksum of checksums) verify(octets, checksum);
  return octets;
}

async function gathered(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new BodyTooLarge(limit);
    chunks.push(Buffer.from(chunk)); // A copy: they are good until the next is asked for.
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function verify(octets: Uint8Array, { algorithm, value, isKept }: ExpectedChecksum): void {
  const expected = typeof value === "function" ? value() : value;
  if (expected === undefined || expected === null) return;
  if (digestOf(algorithm, octets) === expected) return;
  const isPayload = algorithm === "sha256" && isKept === false;
  throw new S3Fault(isPayload ? "XAmzContentSHA256Mismatch" : "BadDigest");
}
