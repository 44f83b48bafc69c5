/** A zone, and the names that it may have. */
import { lowerName, NameFault, parseName, splitLabels, toAsciiName, withoutDot } from "#dns";
import type { RowOf } from "#db";
import { ZoneFault } from "./fault.ts";
import type { zoneById } from "./schema.ts";

export type Zone = RowOf<typeof zoneById>;

/** How long a new zone is pending: by then every node has it, many times over. */
const SETTLING_MS = 60_000;

/**
 * The zone with the status it has by now. Nobody asks its parent whether it delegates here: many zones
 * are internal and have none that could. Tools that wait for an active zone, or list only those, go on.
 */
export function settled(zone: Zone, now: number): Zone {
  const at = zone.createdAt + SETTLING_MS;
  return zone.status === "pending" && now >= at
    ? { ...zone, status: "active", activatedAt: at }
    : zone;
}

/**
 * The zone's name in the one form that is kept: lower case, punycode, no dot at the end. Internal
 * top-level names, reverse zones and children of other zones are all welcome.
 */
export function zoneNameOf(given: string): string {
  try {
    const name = lowerName(parseName(toAsciiName(given.trim()), "."));
    const labels = splitLabels(name);
    const isHost = labels.every((label) => /^[a-z0-9_/](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label));
    if (labels.length > 0 && isHost) return withoutDot(name);
  } catch (error) {
    if (!(error instanceof NameFault)) throw error;
    throw new ZoneFault("bad-zone-name", error.message, "/name");
  }
  throw new ZoneFault("bad-zone-name", `"${given.slice(0, 100)}" is not a zone name`, "/name");
}
