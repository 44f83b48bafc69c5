/**
 * What delegations do to records. A record at or below a delegation is kept but not authoritative: it
 * is shadowed. Addresses that the delegation's own name servers need are glue, and served beside it.
 * RFC 1034 §4.2.1, RFC 9471. Reckoned when it is asked for, and never kept.
 */
import type { ZoneRecord } from "./record.ts";

/** What must be known of a zone to tell what its delegations hide. */
export interface ShadowSource {
  /** The zone's name, whose own NS records delegate nothing. */
  readonly apex: string;
  /** The NS records of the zone; null when there are more than so many. */
  nameservers(most: number): Promise<readonly ZoneRecord[] | null>;
  at(name: string): Promise<readonly ZoneRecord[]>;
  /** Every name of the zone and how many records stand there, in stretches. */
  names(): AsyncIterable<readonly (readonly [name: string, records: number])[]>;
}

export interface Shadow {
  /** Ids of the NS records that hide the record, those nearest to the apex first. */
  readonly shadowedBy: readonly string[];
  /** An address that a delegation above it needs. */
  readonly isGlue: boolean;
  /** Glue that is never served: a delegation nearer to the apex stands before the one that needs it. */
  readonly isDeadGlue: boolean;
  /** Of a delegation that is not hidden itself: how many records it hides. */
  readonly shadows: number;
}

/** NS records by name. */
type Delegations = ReadonlyMap<string, readonly ZoneRecord[]>;

/** A delegation that hides so many may hide more: nobody needs the figure. */
export const MAX_SHADOWS = 10_000;
/** So many NS records are read at once rather than asked for name by name. */
const FEW_NAMESERVERS = 1_000;
/** Names that are asked for at a time. */
const TOGETHER = 16;

/** What stands at the name of a delegation and is the parent's own; RFC 4035 §2.4 for the DS. */
const PARENTS_OWN: ReadonlySet<string> = new Set(["NS", "DS"]);
const ADDRESSES: ReadonlySet<string> = new Set(["A", "AAAA"]);

/**
 * By id, what delegations do to each of these records. The cost follows their number; only where a
 * delegation is among them, its count takes a walk through the names of the zone.
 */
export async function shadowsOf(
  records: readonly ZoneRecord[],
  source: ShadowSource,
): Promise<Map<string, Shadow>> {
  const { apex } = source;
  const names = new Set(records.flatMap(({ name }) => namesAbove(name, apex)));
  const delegations = await delegationsAt(names, source);
  const shadows = new Map(
    records.map((record) => [record.id, shadowOf(record, delegations, apex)] as const),
  );
  const cuts = records.filter(
    ({ id, type, name }) =>
      type === "NS" && name !== apex && shadows.get(id)!.shadowedBy.length === 0,
  );
  const counts = await countShadowed(new Set(cuts.map(({ name }) => name)), source);
  for (const { id, name } of cuts) {
    shadows.set(id, { ...shadows.get(id)!, shadows: counts.get(name)! });
  }
  return shadows;
}

/** Whether the record stands at or below the name and is not what delegates it. */
export function isBelowDelegation({ name, type }: ZoneRecord, delegation: string): boolean {
  return name === delegation ? !PARENTS_OWN.has(type) : namesAbove(name, delegation).length > 0;
}

/** The name and those above it, as far as they are below the apex. */
export function namesAbove(name: string, apex: string): string[] {
  const names: string[] = [];
  for (let at = name; at.length > apex.length; at = at.slice(endOfLabel(at) + 1)) names.push(at);
  const top = names.at(-1);
  return top !== undefined && top.slice(endOfLabel(top) + 1) === apex ? names : [];
}

/** Where the first label ends. A dot behind a backslash belongs to the label. */
function endOfLabel(name: string): number {
  if (!name.includes("\\")) return name.indexOf(".") === -1 ? name.length : name.indexOf(".");
  return /^(?:[^\\.]|\\.)*/s.exec(name)![0].length;
}

function shadowOf(record: ZoneRecord, delegations: Delegations, apex: string): Shadow {
  const by = namesAbove(record.name, apex)
    .filter((name) => isBelowDelegation(record, name))
    .toReversed()
    .flatMap((name) => delegations.get(name) ?? []);
  const needing = ADDRESSES.has(record.type)
    ? by.filter(({ content }) => content === record.name)
    : [];
  // A referral is given at the delegation nearest to the apex; those below it are never reached.
  const isServed = needing.some(({ name }) => name === by[0]!.name);
  return {
    shadowedBy: by.map(({ id }) => id),
    isGlue: needing.length > 0,
    isDeadGlue: needing.length > 0 && !isServed,
    shadows: 0,
  };
}

/** The delegations at these names: picked from all of the zone, or asked for one by one if fewer. */
async function delegationsAt(
  names: ReadonlySet<string>,
  source: ShadowSource,
): Promise<Delegations> {
  if (names.size === 0) return new Map();
  const all = await source.nameservers(Math.max(FEW_NAMESERVERS, names.size));
  const found =
    all?.filter(({ name }) => names.has(name)) ??
    (await eachOf([...names], source)).filter(({ type }) => type === "NS");
  return Map.groupBy(found, ({ name }) => name);
}

async function eachOf(names: readonly string[], source: ShadowSource): Promise<ZoneRecord[]> {
  const found: ZoneRecord[] = [];
  for (let from = 0; from < names.length; from += TOGETHER) {
    const some = names.slice(from, from + TOGETHER);
    found.push(...(await Promise.all(some.map((name) => source.at(name)))).flat());
  }
  return found;
}

/** How many records each of these delegations hides. */
async function countShadowed(
  cuts: ReadonlySet<string>,
  source: ShadowSource,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (cuts.size === 0) return counts;
  for (const there of Map.groupBy(await eachOf([...cuts], source), ({ name }) => name)) {
    const [name, records] = there;
    counts.set(name, records.filter((record) => isBelowDelegation(record, name)).length);
  }
  for await (const stretch of source.names()) {
    for (const [name, records] of stretch) {
      for (const above of namesAbove(name, source.apex).slice(1)) {
        if (cuts.has(above)) counts.set(above, (counts.get(above) ?? 0) + records);
      }
    }
    if ([...counts.values()].every((count) => count >= MAX_SHADOWS)) break;
  }
  return new Map([...cuts].map((cut) => [cut, Math.min(counts.get(cut) ?? 0, MAX_SHADOWS)]));
}
