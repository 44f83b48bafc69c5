/** The parts that an upload is completed with: there, as they were sent, and of the sizes they must have. */
import { ObjectFault } from "./fault.ts";
import type { ObjectLimits } from "./limits.ts";
import type { Checksums } from "./model.ts";
import type { CompleteOptions, UploadedPart } from "./upload-model.ts";

interface Part {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums | null;
}

/** By their numbers, whatever order they were named in. The order of the checks is the original's. */
export function chosenParts(
  chosen: readonly UploadedPart[],
  there: readonly Part[],
  { evenParts, size: announced }: CompleteOptions,
  limits: ObjectLimits,
): Part[] {
  const repeated = repeatedNumber(chosen);
  if (repeated !== null) {
    throw new ObjectFault("duplicate-part", `Part ${repeated} is named twice`);
  }
  const byNumber = new Map(there.map((part) => [part.number, part]));
  const named = chosen.map((one) => {
    const part = byNumber.get(one.partNumber);
    if (part !== undefined && isAsNamed(part, one)) return part;
    const message = `Part ${one.partNumber} was not uploaded with that etag and checksum`;
    throw new ObjectFault("no-such-part", message);
  });
  checkSizes(named, limits);
  const sorted = named.toSorted((a, b) => a.number - b.number);
  if (evenParts) checkEven(sorted, limits);
  else checkSizes(sorted, limits);
  const size = sorted.reduce((sum, part) => sum + part.size, 0);
  if (size > limits.objectOctets) {
    throw new ObjectFault("too-large", `An object has at most ${limits.objectOctets} octets`);
  }
  if (announced !== undefined && announced !== size) {
    throw new ObjectFault(
      "incomplete-body",
      `${announced} octets were announced, the parts have ${size}`,
    );
  }
  return sorted;
}

function isAsNamed(part: Part, { etag, checksum }: UploadedPart): boolean {
  if (part.etag !== etag) return false;
  return (
    checksum === undefined || part.checksums?.[checksum.algorithm] === checksum.value.toLowerCase()
  );
}

function repeatedNumber(chosen: readonly UploadedPart[]): number | null {
  const seen = new Set<number>();
  for (const { partNumber } of chosen) {
    if (seen.has(partNumber)) return partNumber;
    seen.add(partNumber);
  }
  return null;
}

function checkSizes(parts: readonly Part[], { leastPartOctets }: ObjectLimits): void {
  const small = parts.slice(0, -1).find(({ size }) => size < leastPartOctets);
  if (small === undefined) return;
  const message = `Part ${small.number} has ${small.size} octets; all but the last need ${leastPartOctets}`;
  throw new ObjectFault("part-too-small", message);
}

function checkEven(parts: readonly Part[], { leastPartOctets }: ObjectLimits): void {
  const first = parts[0]?.size ?? 0;
  const isUneven = parts.some(({ size }, i) =>
    i < parts.length - 1 ? size !== first || size < leastPartOctets : size > first,
  );
  if (isUneven) {
    throw new ObjectFault("uneven-parts", "All parts but the last must have the same length");
  }
}
