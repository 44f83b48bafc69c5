/** The checksums that a request announces for its body. */
import type { ExpectedChecksum } from "#objects";
import type { S3Algorithm } from "../checksums.ts";
import { S3Fault } from "../fault.ts";
import type { PayloadForm } from "./form.ts";

export const CHECKSUM = "x-amz-checksum-";

/** By the end of their header: how many octets each has, and what it is of no octets at all. */
const algorithms = {
  crc32: { octets: 4, ofNothing: "00000000" },
  crc32c: { octets: 4, ofNothing: "00000000" },
  crc64nvme: { octets: 8, ofNothing: "0000000000000000" },
  sha1: { octets: 20, ofNothing: "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
  sha256: {
    octets: 32,
    ofNothing: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  },
} as const satisfies Record<S3Algorithm, { octets: number; ofNothing: string }>;

/** Headers that begin alike and say other things. */
const OTHERS: ReadonlySet<string> = new Set(["algorithm", "mode", "type"]);

export interface Announced {
  readonly algorithm: S3Algorithm;
  /** In hex; null where it comes in a trailer. */
  readonly value: string | null;
}

/** What one of `x-amz-checksum-…` says, in hex. */
export function readChecksum(header: string, value: string): Announced {
  const algorithm = algorithmOf(header);
  const octets = Buffer.from(value, "base64");
  const isWhole = octets.length === algorithms[algorithm].octets;
  if (isWhole && octets.toString("base64") === value) {
    return { algorithm, value: octets.toString("hex") };
  }
  // Differs from S3, which says InvalidRequest: the compatibility tests in use want this code.
  throw new S3Fault("BadDigest", `Value for ${header} header is invalid.`);
}

/** The one that the request announces, in a header or as a trailer. */
export function announcedChecksum(form: PayloadForm, length: number | null): Announced | null {
  const { headers, hoisted } = form;
  const found: Announced[] = [];
  for (const name in headers) {
    if (isChecksum(name)) found.push(readChecksum(name, headers[name]!));
  }
  for (const [name, value] of hoisted) {
    if (!isChecksum(name) || headers[name] !== undefined) continue;
    const announced = readChecksum(name, value);
    // An SDK that signs a URL before there is a body puts the checksum of none into it.
    const isOfNothing = announced.value === algorithms[announced.algorithm].ofNothing;
    if (!isOfNothing || length === 0) found.push(announced);
  }
  for (const name of trailersOf(headers)) {
    if (isChecksum(name)) found.push({ algorithm: algorithmOf(name), value: null });
  }
  if (found.length <= 1) return found[0] ?? null;
  const message = "Expecting a single x-amz-checksum- header. Several checksums are not allowed.";
  throw new S3Fault("InvalidRequest", message);
}

/** Names in lower case. */
export function trailersOf(headers: PayloadForm["headers"]): readonly string[] {
  const given = headers["x-amz-trailer"];
  if (given === undefined) return [];
  const names = given.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "").map((name) => name.toLowerCase());
}

export function contentMd5({ headers }: PayloadForm): ExpectedChecksum | null {
  const given = headers["content-md5"];
  if (given === undefined) return null;
  const octets = Buffer.from(given, "base64");
  if (octets.length !== 16 || octets.toString("base64") !== given)
    throw new S3Fault("InvalidDigest");
  return { algorithm: "md5", value: octets.toString("hex"), isKept: false };
}

/** Whether a header, in lower case, gives the value of one. */
export function isChecksum(name: string): boolean {
  return name.startsWith(CHECKSUM) && !OTHERS.has(name.slice(CHECKSUM.length));
}

function algorithmOf(header: string): S3Algorithm {
  const name = header.slice(CHECKSUM.length);
  if (Object.hasOwn(algorithms, name)) return name as S3Algorithm;
  throw new S3Fault("NotImplemented", `The checksum of ${header.slice(0, 80)} is not implemented.`);
}
