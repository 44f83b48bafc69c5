/** Who hears of every change of a zone: the doors that keep zones in a form of their own. */
import type { ZoneRecord } from "./record.ts";
import type { Zone } from "./zone.ts";

/** All records at each name that a change has touched; an empty list is a name that is gone. */
export type ChangedNames = ReadonlyMap<string, readonly ZoneRecord[]>;

/**
 * Called when a change is on disk and before whoever asked for it hears so: what the listener has done
 * by its return is done for everyone who knows of the change.
 */
export interface ZoneListener {
  /** A zone is new, or is changed: its own row, its records, or both. */
  changed(zone: Zone, names: ChangedNames): void;
  removed(zone: Zone): void;
}
