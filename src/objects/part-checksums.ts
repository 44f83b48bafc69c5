/** The checksum of an object made of parts, from those of the parts: no octet is read again. */
import assert from "node:assert/strict";
import { concatenated, isCrc } from "#kit/crc.ts";
import { digestOf } from "./digest.ts";
import { ObjectFault } from "./fault.ts";
import type { Algorithm, Checksums, ChecksumType, ExpectedChecksum } from "./model.ts";
import type { ChecksumChoice, NamedChecksum } from "./upload-model.ts";
import type { KeptChecksums } from "./object-rows.ts";

interface Part {
  readonly number: number;
  readonly size: number;
  readonly checksums: Checksums | null;
}

/** Only checksums that can be put together are had of a whole object; CRC-64 is had of nothing else. */
export function checkChoice({ algorithm, type }: ChecksumChoice): void {
  const isPossible = type === "full" ? isCrc(algorithm) : algorithm !== "crc64nvme";
  if (isPossible) return;
  const message = `An object made of parts has no ${type} checksum of the algorithm ${algorithm}`;
  throw new ObjectFault("bad-checksum-type", message);
}

/** A part may come with another only where none was chosen: its sender may not know what it is sent for. */
export function checkPart(choice: ChecksumChoice | null, given: readonly ExpectedChecksum[]): void {
  for (const { algorithm, isKept = true } of given) {
    if (choice === null || !isKept || algorithm === choice.algorithm) continue;
    // In S3's words, which programs look for.
    const message = `Checksum Type mismatch occurred, expected checksum Type: ${choice.algorithm}, actual checksum Type: ${algorithm}`;
    throw new ObjectFault("bad-checksum-type", message);
  }
}

/** Who completes an upload may say which type it has, and says so of the one that was chosen. */
export function checkType(choice: ChecksumChoice | null, type: ChecksumType | undefined): void {
  if (choice === null || type === undefined || choice.type === type) return;
  const message = `The upload was begun for a ${choice.type} checksum, and cannot be completed with a ${type} one`;
  throw new ObjectFault("bad-checksum-type", message);
}

/** Null when none was chosen. Throws unless it is the one that is expected. */
export function checksumsOfParts(
  choice: ChecksumChoice | null,
  parts: readonly Part[],
  expected: NamedChecksum | undefined,
): KeptChecksums | null {
  // Who names one without having chosen it means the whole object's.
  const chosen = choice ?? (expected ? { algorithm: expected.algorithm, type: "full" } : null);
  if (chosen === null) return null;
  checkChoice(chosen);
  const { algorithm } = chosen;
  const value = chosen.type === "full" ? fullOf(algorithm, parts) : compositeOf(algorithm, parts);
  if (expected !== undefined) compare(expected, algorithm, value);
  return chosen.type === "full"
    ? { [algorithm]: value }
    : { [algorithm]: value, isComposite: true };
}

function fullOf(algorithm: Algorithm, parts: readonly Part[]): string {
  assert(isCrc(algorithm));
  const stretches = parts.map((part) => ({ crc: checksumOf(part, algorithm), size: part.size }));
  return concatenated(algorithm, stretches);
}

function compositeOf(algorithm: Algorithm, parts: readonly Part[]): string {
  const checksums = parts.map((part) => checksumOf(part, algorithm)).join("");
  return digestOf(algorithm, Buffer.from(checksums, "hex"));
}

function checksumOf({ number, checksums }: Part, algorithm: Algorithm): string {
  const value = checksums?.[algorithm];
  if (value !== undefined) return value;
  throw wrong(
    algorithm,
    `Part ${number} was uploaded without a checksum of the algorithm ${algorithm}`,
  );
}

function compare(expected: NamedChecksum, algorithm: Algorithm, value: string): void {
  if (expected.algorithm === algorithm && expected.value.toLowerCase() === value) return;
  const message = `The object's checksum is ${value} (${algorithm}), not ${expected.value} (${expected.algorithm})`;
  throw wrong(expected.algorithm, message);
}

function wrong(algorithm: Algorithm, message: string): ObjectFault {
  return new ObjectFault("bad-digest", message, { checksum: { algorithm, isKept: true } });
}
