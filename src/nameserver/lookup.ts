/** Finding zones, names and RRsets in the snapshot. RFC 1034 §4.3.2, RFC 4592. */
import { TYPE } from "./codes.ts";
import { NameHash, WILDCARD } from "./snapshot/hash.ts";
import {
  BODY,
  ENTRY,
  FLAGS_MASK,
  KEY_MASK,
  KEY_SHIFT,
  NAME,
  SEGMENT_BITS,
  SEGMENT_MASK,
  SET,
  SETS_SHIFT,
  ZONE,
} from "./snapshot/layout.ts";
import type { NameCursor } from "./snapshot/name-cursor.ts";
import type { SnapshotReader } from "./snapshot/reader.ts";

/** What a walk through a zone came to. */
export const FOUND = {
  /** `node` is the name, or the wildcard that stands for it. */
  name: 0,
  missing: 1,
  /** `node` is a cut, at `label`: another server's from there on. */
  cut: 2,
} as const;

/** A place in the snapshot. The last walk's results stay until the next one. */
export class Lookup {
  readonly reader: SnapshotReader;
  readonly #hash: NameHash;
  /** The zone's entry, its words and its place in the name. */
  zone = 0;
  body = 0;
  zoneLabel = 0;
  zoneFlags = 0;
  node = 0;
  label = 0;
  /** Whether `node` is a wildcard that stands for the name. */
  isWildcard = false;
  /** The octets in which `set` lies. */
  bytes: Uint8Array = new Uint8Array(0);
  set = 0;

  constructor(reader: SnapshotReader) {
    this.reader = reader;
    this.#hash = NameHash.of(reader.seed);
  }

  /** Finds the zone with the most labels that the name lies in, from a label on; false for none. */
  findZone(name: NameCursor, from: number): boolean {
    const { reader } = this;
    const { zones } = reader;
    for (let label = from; label <= name.labels; label++) {
      const at = name.at[label]!;
      const zone = reader.find(zones, name.hashes[label]!, name.octets, at, name.length);
      if (zone === 0) continue;
      this.zone = zone;
      this.zoneLabel = label;
      this.body = reader.body(zone);
      this.zoneFlags = reader.get(zone, ENTRY.meta) & FLAGS_MASK;
      return true;
    }
    return false;
  }

  /** Whether a zone served here that lies within the present one holds the name, and so has other data. */
  isOfDeeperZone(name: NameCursor): boolean {
    const { reader } = this;
    for (let label = 0; label < this.zoneLabel; label++) {
      const at = name.at[label]!;
      const hash = name.hashes[label]!;
      if (reader.find(reader.zones, hash, name.octets, at, name.length) !== 0) return true;
    }
    return false;
  }

  /** Walks from the apex to the name. `passCut`: a cut at the name itself is not one (for DS). */
  walk(name: NameCursor, passCut: boolean): number {
    const { reader, body, zoneLabel } = this;
    const directory = reader.get(body, BODY.directory);
    const end = name.at[zoneLabel]!;
    this.isWildcard = false;
    if (reader.get(body, BODY.cuts) > 0 && this.#meetsCut(name, directory, end, passCut)) {
      return FOUND.cut;
    }
    this.node = reader.find(directory, name.hashes[0]!, name.octets, 0, end);
    if (this.node !== 0) return FOUND.name;
    if (reader.get(body, BODY.wildcards) === 0) return FOUND.missing;
    return this.#findWildcard(name, directory, end) ? FOUND.name : FOUND.missing;
  }

  #meetsCut(name: NameCursor, directory: number, end: number, passCut: boolean): boolean {
    const { reader } = this;
    for (let label = this.zoneLabel - 1; label >= (passCut ? 1 : 0); label--) {
      const node = reader.find(directory, name.hashes[label]!, name.octets, name.at[label]!, end);
      if (node === 0) return false;
      if ((reader.get(node, ENTRY.meta) & NAME.cut) === 0) continue;
      this.node = node;
      this.label = label;
      return true;
    }
    return false;
  }

  /** The wildcard right below the closest encloser: the nearest ancestor that exists. */
  #findWildcard(name: NameCursor, directory: number, end: number): boolean {
    const { reader } = this;
    for (let label = 1; label <= this.zoneLabel; label++) {
      const at = name.at[label]!;
      const hash = name.hashes[label]!;
      const isThere =
        label === this.zoneLabel || reader.find(directory, hash, name.octets, at, end) !== 0;
      if (!isThere) continue;
      // Any label before this one has at least two octets, and the name itself is not needed any more.
      name.octets[at - 2] = WILDCARD[0]!;
      name.octets[at - 1] = WILDCARD[1]!;
      this.node = reader.find(directory, this.#hash.wildcard(hash), name.octets, at - 2, end);
      this.isWildcard = this.node !== 0;
      return this.isWildcard;
    }
    return false;
  }

  /** Whether the edge stands before the node's addresses. */
  isProxied(flags: number): boolean {
    return (flags & NAME.proxied) !== 0 && (this.zoneFlags & ZONE.proxies) !== 0;
  }

  flagsOf(node: number): number {
    return this.reader.get(node, ENTRY.meta) & FLAGS_MASK;
  }

  /** Finds the node's set of a type; it is then at `set` in `bytes`. */
  findSet(node: number, type: number): boolean {
    const meta = this.reader.get(node, ENTRY.meta);
    const bytes = this.reader.bytes[node >>> SEGMENT_BITS]!;
    let at = (node & SEGMENT_MASK) + ENTRY.key + ((meta >>> KEY_SHIFT) & KEY_MASK);
    for (let left = meta >>> SETS_SHIFT; left > 0; left--) {
      if (bytes[at + SET.type] === type >> 8 && bytes[at + SET.type + 1] === (type & 0xff)) {
        this.bytes = bytes;
        this.set = at;
        return true;
      }
      at += SET.records + ((bytes[at + SET.length]! << 8) | bytes[at + SET.length + 1]!);
    }
    return false;
  }

  /** Finds the smallest set of a node but for the types that are not to be seen; RFC 8482 §4.1. */
  findSmallest(node: number, hidesHosts: boolean, hidesCname: boolean): boolean {
    const meta = this.reader.get(node, ENTRY.meta);
    const bytes = this.reader.bytes[node >>> SEGMENT_BITS]!;
    let at = (node & SEGMENT_MASK) + ENTRY.key + ((meta >>> KEY_SHIFT) & KEY_MASK);
    let smallest = -1;
    for (let left = meta >>> SETS_SHIFT; left > 0; left--) {
      const length = (bytes[at + SET.length]! << 8) | bytes[at + SET.length + 1]!;
      const type = (bytes[at + SET.type]! << 8) | bytes[at + SET.type + 1]!;
      const isHost = type === TYPE.A || type === TYPE.AAAA;
      const isHidden = (hidesCname && type === TYPE.CNAME) || (hidesHosts && isHost);
      if (!isHidden && (smallest < 0 || length < smallest)) {
        smallest = length;
        this.bytes = bytes;
        this.set = at;
      }
      at += SET.records + length;
    }
    return smallest >= 0;
  }

  /** Finds a set of the zone itself, by its word. */
  findZoneSet(word: number): boolean {
    const place = this.reader.get(this.body, word);
    if (place === 0) return false;
    this.bytes = this.reader.bytes[this.zone >>> SEGMENT_BITS]!;
    this.set = (this.zone & SEGMENT_MASK) + place;
    return true;
  }
}
