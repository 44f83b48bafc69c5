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

const HEADERS: Readonly<Record<S3Algorithm, string>> = {
  crc32: "x-amz-checksum-crc32",
  crc32c: "x-amz-checksum-crc32c",
  crc64nvme: "x-amz-checksum-crc64nvme",
  sha1: "x-amz-checksum-sha1",
  sha256: "x-amz-checksum-sha256",
};

/** What has checksums: an object, an upload's part. */
export interface Summed {
  readonly checksums: Checksums;
  readonly checksumType?: ChecksumType | null;
  readonly partCount?: number | null;
}

/** Room for the octets of the longest. */
const octets = Buffer.alloc(32);

/** In base64, of one that is there; a composite one tells how many parts it is of. */
function valueOf({ checksums, checksumType, partCount }: Summed, algorithm: S3Algorithm): string {
  const length = octets.write(checksums[algorithm]!, "hex");
  const value = octets.toString("base64", 0, length);
  return checksumType === "composite" ? `${value}-${partCount}` : value;
}

export function checksumHeaders(summed: Summed): string[] {
  const headers: string[] = [];
  for (const algorithm of NAMES) {
    if (summed.checksums[algorithm] === undefined) continue;
    headers.push(HEADERS[algorithm], valueOf(summed, algorithm));
  }
  if (headers.length > 0 && summed.checksumType !== undefined) {
    headers.push("x-amz-checksum-type", typeWord(summed.checksumType));
  }
  return headers;
}

/** Elements of documents that tell an object's checksums. */
export function checksumElements(summed: Summed): string {
  let elements = "";
  for (const algorithm of NAMES) {
    if (summed.checksums[algorithm] === undefined) continue;
    elements += tag(`Checksum${ALGORITHMS[algorithm]}`, valueOf(summed, algorithm));
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
