/**
 * Cyclic redundancy checks: CRC-32 (RFC 1952 §8), CRC-32C (RFC 3720 §12.1) and CRC-64/NVME, and how those of
 * stretches make that of the whole. All are of the reflected form: the lowest bit is the highest power of x.
 */
import { crc32 } from "node:zlib";

export type CrcName = "crc32" | "crc32c" | "crc64nvme";

/** A 64-bit word in halves: numbers have no more bits to compute with. */
interface Word {
  readonly high: number;
  readonly low: number;
}

/**
 * A polynomial of degree 32 stands in the lower half: times x^32, so to speak, as is then every check made
 * with it. So all that is said of 64 bits holds for it too.
 */
const POLYNOMIALS: Readonly<Record<CrcName, Word>> = {
  crc32: { high: 0, low: 0xedb88320 },
  crc32c: { high: 0, low: 0x82f63b78 },
  crc64nvme: { high: 0x9a6c9329, low: 0xac4bc9b5 },
};
const DIGITS: Readonly<Record<CrcName, number>> = { crc32: 8, crc32c: 8, crc64nvme: 16 };

export function isCrc(name: string): name is CrcName {
  return Object.hasOwn(POLYNOMIALS, name);
}

/** A check of octets as they come. */
export class Crc {
  readonly #name: CrcName;
  #high = 0;
  #low = 0;

  constructor(name: CrcName) {
    this.#name = name;
  }

  update(octets: Uint8Array): void {
    if (this.#name === "crc32") this.#low = crc32(octets, this.#low);
    else if (this.#name === "crc32c") this.#low = ~update32(tablesOf("crc32c"), ~this.#low, octets);
    else this.#update64(octets);
  }

  /** In lower-case hex. */
  digest(): string {
    return hexOf(this.#name, { high: this.#high, low: this.#low });
  }

  #update64(octets: Uint8Array): void {
    const { high, low } = update64(tablesOf("crc64nvme"), ~this.#high, ~this.#low, octets);
    this.#high = ~high;
    this.#low = ~low;
  }
}

/** The check of stretches that follow each other, from theirs. */
export function concatenated(
  name: CrcName,
  stretches: readonly { readonly crc: string; readonly size: number }[],
): string {
  let whole: Word = { high: 0, low: 0 };
  let factor = { size: 0, value: ONE };
  for (const { crc, size } of stretches) {
    if (size !== factor.size) factor = { size, value: powerOfX(name, size) };
    const { high, low } = times(name, whole, factor.value);
    const next = wordOf(crc);
    whole = { high: high ^ next.high, low: low ^ next.low };
  }
  return hexOf(name, whole);
}

function hexOf(name: CrcName, { high, low }: Word): string {
  return (eightDigits(high) + eightDigits(low)).slice(-DIGITS[name]);
}

function eightDigits(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}

function wordOf(hex: string): Word {
  const digits = hex.padStart(16, "0");
  return {
    high: Number.parseInt(digits.slice(0, 8), 16),
    low: Number.parseInt(digits.slice(8), 16),
  };
}

const ONE: Word = { high: 0x80000000, low: 0 };
const X: Word = { high: 0x40000000, low: 0 };

/** The product of two polynomials, less what the name's own divides. */
function times(name: CrcName, a: Word, b: Word): Word {
  const { high: polynomialHigh, low: polynomialLow } = POLYNOMIALS[name];
  let { high, low } = b;
  let [productHigh, productLow] = [0, 0];
  for (let bit = 63; bit >= 0; bit--) {
    if (((bit > 31 ? a.high : a.low) >>> (bit & 31)) & 1) {
      productHigh ^= high;
      productLow ^= low;
    }
    // Once more times x.
    const carried = -(low & 1);
    low = ((low >>> 1) | (high << 31)) ^ (carried & polynomialLow);
    high = (high >>> 1) ^ (carried & polynomialHigh);
  }
  return { high: productHigh, low: productLow };
}

/** x to the power 2^k, for each k that the bits of a size need. */
const squares = new Map<CrcName, Word[]>();

/** What so many octets behind a stretch multiply its check by: x for each of their bits. */
function powerOfX(name: CrcName, octets: number): Word {
  let known = squares.get(name);
  if (known === undefined) squares.set(name, (known = [X]));
  let power = ONE;
  for (let [rest, k] = [octets, 3]; rest > 0; rest = Math.floor(rest / 2), k++) {
    while (known.length <= k) known.push(times(name, known.at(-1)!, known.at(-1)!));
    if (rest % 2 === 1) power = times(name, power, known[k]!);
  }
  return power;
}

/** The lower and the higher halves of eight tables of 256, the last first. */
interface Tables {
  readonly high: Int32Array;
  readonly low: Int32Array;
}

const SLICES = 8;
const tables = new Map<CrcName, Tables>();

function tablesOf(name: CrcName): Tables {
  let made = tables.get(name);
  if (made === undefined) tables.set(name, (made = makeTables(POLYNOMIALS[name])));
  return made;
}

/** "Slicing by eight": what an octet does to the check when none to seven others follow it. */
function makeTables(polynomial: Word): Tables {
  const high = new Int32Array(SLICES * 256);
  const low = new Int32Array(SLICES * 256);
  for (let octet = 0; octet < 256; octet++) {
    let [h, l] = [0, octet];
    for (let slice = SLICES - 1; slice >= 0; slice--) {
      for (let bit = 0; bit < 8; bit++) {
        const carried = -(l & 1);
        l = ((l >>> 1) | (h << 31)) ^ (carried & polynomial.low);
        h = (h >>> 1) ^ (carried & polynomial.high);
      }
      high[slice * 256 + octet] = h;
      low[slice * 256 + octet] = l;
    }
  }
  return { high, low };
}

function update32({ low: t }: Tables, crc: number, o: Uint8Array): number {
  let i = 0;
  for (const end = o.length - 7; i < end; i += 8) {
    crc ^= o[i]! | (o[i + 1]! << 8) | (o[i + 2]! << 16) | (o[i + 3]! << 24);
    crc =
      t[crc & 255]! ^
      t[256 + ((crc >>> 8) & 255)]! ^
      t[512 + ((crc >>> 16) & 255)]! ^
      t[768 + (crc >>> 24)]! ^
      t[1024 + o[i + 4]!]! ^
      t[1280 + o[i + 5]!]! ^
      t[1536 + o[i + 6]!]! ^
      t[1792 + o[i + 7]!]!;
  }
  for (; i < o.length; i++) crc = t[1792 + ((crc ^ o[i]!) & 255)]! ^ (crc >>> 8);
  return crc;
}

function update64({ high: h, low: l }: Tables, high: number, low: number, o: Uint8Array): Word {
  let i = 0;
  for (const end = o.length - 7; i < end; i += 8) {
    low ^= o[i]! | (o[i + 1]! << 8) | (o[i + 2]! << 16) | (o[i + 3]! << 24);
    high ^= o[i + 4]! | (o[i + 5]! << 8) | (o[i + 6]! << 16) | (o[i + 7]! << 24);
    const a = low & 255;
    const b = 256 + ((low >>> 8) & 255);
    const c = 512 + ((low >>> 16) & 255);
    const d = 768 + (low >>> 24);
    const e = 1024 + (high & 255);
    const f = 1280 + ((high >>> 8) & 255);
    const g = 1536 + ((high >>> 16) & 255);
    const j = 1792 + (high >>> 24);
    low = l[a]! ^ l[b]! ^ l[c]! ^ l[d]! ^ l[e]! ^ l[f]! ^ l[g]! ^ l[j]!;
    high = h[a]! ^ h[b]! ^ h[c]! ^ h[d]! ^ h[e]! ^ h[f]! ^ h[g]! ^ h[j]!;
  }
  for (; i < o.length; i++) {
    const at = 1792 + ((low ^ o[i]!) & 255);
    low = l[at]! ^ ((low >>> 8) | (high << 24));
    high = h[at]! ^ (high >>> 8);
  }
  return { high, low };
}
