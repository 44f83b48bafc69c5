/** Checksums in S3's spelling: base64 where the core has hex, a header and an element for each algorithm. */
import type { Algorithm, Checksums, ChecksumType } from "#objects";
import { tag } from "./xml/write.ts";

/** By the core's name: the header's end and the element's, and the word in headers that choose one. */
export const ALGORITHMS = {
  crc32: "CRC32",
  crc32c: "CRC32C",
  crc64nvme: "CRC64NVME",
  sha1: "SHA1",
  sha256: "SHA256",
} as const satisfies Partial<Record<Algorithm, string>>;

export type S3Algorithm = keyof typeof ALGORITHMS;

const NAMES = Object.keys(ALGORITHMS) as S3Algorithm[];

/** What has checksums: an object, an upload's part. */
export interface Summed {
  readonly checksums: Checksums;
  readonly checksumType?: ChecksumType | null;
  readonly partCount?: number | null;
}

/** Those that S3 knows, each with its value in base64; a composite one tells how many parts it is of. */
function* checksumsOf(summed: Summed): Generator<[algorithm: S3Algorithm, value: string]> {
  const { checksums, checksumType, partCount } = summed;
  for (const algorithm of NAMES) {
    const hex = checksums[algorithm];
    if (hex === undefined) continue;
    const value = Buffer.from(hex, "hex").toString("base64");
    yield [algorithm, checksumType === "composite" ? `${value}-${partCount}` : value];
  }
}

export function checksumHeaders(summed: Summed): string[] {
  const headers: string[] = [];
  for (const [algorithm, value] of checksumsOf(summed)) {
    headers.push(`x-amz-checksum-${algorithm}`, value);
  }
  if (headers.length > 0 && summed.checksumType !== undefined) {
    headers.push("x-amz-checksum-type", typeWord(summed.checksumType));
  }
  return headers;
}

/** Elements of documents that tell an object's checksums. */
export function checksumElements(summed: Summed): string {
  let elements = "";
  for (const [algorithm, value] of checksumsOf(summed)) {
    elements += tag(`Checksum${ALGORITHMS[algorithm]}`, value);
  }
  if (elements === "" || summed.checksumType === undefined) return elements;
  return elements + tag("ChecksumType", typeWord(summed.checksumType));
}

/** Of lists, which tell the algorithm alone. */
export function algorithmElements(summed: Summed): string {
  let elements = "";
  for (const algorithm of NAMES) {
    if (summed.checksums[algorithm] !== undefined) {
      elements += tag("ChecksumAlgorithm", ALGORITHMS[algorithm]);
    }
  }
  return elements === "" ? "" : elements + tag("ChecksumType", typeWord(summed.checksumType));
}

export function typeWord(type: ChecksumType | null | undefined): string {
  return type === "composite" ? "COMPOSITE" : "FULL_OBJECT";
}
