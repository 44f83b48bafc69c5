/** Writes what all nameservers are measured with: the zone files, and the questions for dnsperf. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import {
  apexOf,
  line,
  missing,
  mix,
  ORIGIN,
  type Question,
  questionOf,
  recordsOf,
  type Sample,
  sampleOf,
  wild,
  WILD_ORIGIN,
  wildRecords,
} from "./dns-zone.ts";

export interface ZoneFile {
  /** Without the last dot. */
  readonly zone: string;
  readonly path: string;
}

/** A file of questions to get warm with, and one to be measured with. */
export interface Questions {
  readonly warm: string;
  readonly measured: string;
}

export interface DnsFiles {
  readonly names: number;
  readonly zones: readonly ZoneFile[];
  readonly existing: Questions;
  readonly missing: Questions;
  readonly wild: Questions;
  /** Answered right, they show that the zones are there. */
  readonly first: readonly Sample[];
  readonly samples: readonly Sample[];
}

/** dnsperf begins again at the end of the file: names that are there may be asked for again. */
const EXISTING = 200_000;

/**
 * Names that are made up should not come again while a server may have them in a cache: enough for
 * five seconds at 200 000 a second.
 */
const MADE_UP = 1_000_000;
const MADE_UP_WARM = 500_000;

const SAMPLES = 200;

/** Lines that are written at once. */
const WRITTEN = 10_000;

/** Salts: which number of the sequence is for what. */
const PICK_NAME = 100;
const PICK_TYPE = 101;

export function writeDnsFiles(folder: string, names: number): DnsFiles {
  const at = (file: string) => join(folder, file);
  const big = { zone: ORIGIN.slice(0, -1), path: at("bench.zone") };
  const small = { zone: WILD_ORIGIN.slice(0, -1), path: at("wild.zone") };
  write(big.path, 1, () => apexOf(ORIGIN).map(line).join(""));
  write(big.path, names, (n) => recordsOf(n).map(line).join(""));
  write(small.path, 1, () => [...apexOf(WILD_ORIGIN), ...wildRecords].map(line).join(""));
  const existing = at("existing.txt");
  write(existing, EXISTING, (n) => ask(questionOf(mix(n, PICK_NAME) % names, mix(n, PICK_TYPE))));
  const madeUp = (name: string, make: (n: number) => Question) => {
    const files = { warm: at(`${name}-warm.txt`), measured: at(`${name}.txt`) };
    write(files.warm, MADE_UP_WARM, (n) => ask(make(MADE_UP + n)));
    write(files.measured, MADE_UP, (n) => ask(make(n)));
    return files;
  };
  return {
    names,
    zones: [big, small],
    existing: { warm: existing, measured: existing },
    missing: madeUp("missing", missing),
    wild: madeUp("wild", wild),
    first: [sampleOf(0, 0), wild(0)],
    samples: samplesOf(names),
  };
}

/** Of five, three are of names that are there. */
function samplesOf(names: number): Sample[] {
  return Array.from({ length: SAMPLES }, (_, n) => {
    if (n % 5 === 3) return missing(n);
    if (n % 5 === 4) return wild(n);
    return sampleOf(mix(n, PICK_NAME) % names, mix(n, PICK_TYPE));
  });
}

/** A line of dnsperf's input. */
function ask({ name, type }: Question): string {
  return `${name.slice(0, -1)} ${type}\n`;
}

/** Adds to the file what `make` gives for 0 to `count`. */
function write(path: string, count: number, make: (n: number) => string): void {
  for (let from = 0; from < count; from += WRITTEN) {
    const length = Math.min(WRITTEN, count - from);
    appendFileSync(path, Array.from({ length }, (_, index) => make(from + index)).join(""));
  }
}
