/** Addresses that go with an answer: glue for referrals, and of the hosts that records name. RFC 9471, RFC 9460 §4.1. */
import { TYPE } from "./codes.ts";
import type { Lookup } from "./lookup.ts";
import { FOUND } from "./lookup.ts";
import { POINTER_LIMIT, type Reply, ttlOf } from "./reply.ts";
import { BODY, CUT_SHORT, KIND, NAME, SET } from "./snapshot/layout.ts";
import { NameCursor } from "./snapshot/name-cursor.ts";
import { NAME_AT } from "./snapshot/rrset.ts";

/** Hosts of one set whose addresses are given; more would only fill the message. */
const MAX_HOSTS = 16;

/** Owner, type, class, TTL and RDLENGTH. */
const HEAD_OCTETS = 12;

export class Additional {
  readonly #lookup: Lookup;
  readonly #reply: Reply;
  readonly #host: NameCursor;
  readonly #given = new Int32Array(MAX_HOSTS);
  #hosts = 0;

  constructor(seed: number, lookup: Lookup, reply: Reply) {
    this.#lookup = lookup;
    this.#reply = reply;
    this.#host = new NameCursor(seed);
  }

  /**
   * Glue for the set of NS that was found, whose first RDATA is at `first` in the response. Hosts at or
   * below the cut cannot be found otherwise, so theirs must fit: false when they do not.
   */
  glue(name: NameCursor, first: number, zoneAt: number): boolean {
    const { bytes, set, zoneLabel, label } = this.#lookup;
    const cut = label;
    const count = (bytes[set + SET.count]! << 8) | bytes[set + SET.count + 1]!;
    for (const isNeeded of NEEDED_FIRST) {
      let record = set + SET.records;
      let rdata = first;
      for (let i = 0; i < count; i++) {
        const length = lengthAt(bytes, record);
        const isCut = (bytes[record]! & (CUT_SHORT >> 8)) !== 0;
        // A name in full is not of this zone.
        if (isCut && this.#host.join(bytes, record + 2, length - 2, name, zoneLabel)) {
          const isBelow = isWithin(this.#host, name, cut);
          const owner = length === 2 ? zoneAt : rdata; // The apex: a pointer would lead to a pointer.
          if (isBelow === isNeeded && !this.#giveGlue(name, owner, zoneAt, isBelow))
            return !isNeeded;
        }
        record += 2 + length;
        rdata += HEAD_OCTETS + length;
      }
    }
    return true;
  }

  /** Both addresses of the host, wherever in the zone it lies; false when they do not fit. */
  #giveGlue(name: NameCursor, owner: number, zoneAt: number, isBelow: boolean): boolean {
    const label = this.#host.labels - (name.labels - this.#lookup.zoneLabel);
    const node = this.#nodeOf(label);
    // Beyond the reach of pointers no resolver looks: it has had hundreds of hosts by then.
    if (node === 0 || owner >= POINTER_LIMIT) return true;
    return isBelow ? this.#giveAddresses(node, owner, zoneAt) : this.#giveHost(node, owner, zoneAt);
  }

  #nodeOf(label: number): number {
    const lookup = this.#lookup;
    const { reader } = lookup;
    const directory = reader.get(lookup.body, BODY.directory);
    const host = this.#host;
    return reader.find(directory, host.hashes[0]!, host.octets, 0, host.at[label]!);
  }

  /** Addresses for the hosts in the answer's set that lie in the zone. Optional: what does not fit is left out. */
  forAnswer(name: NameCursor, first: number, owner: number, zoneAt: number): void {
    const lookup = this.#lookup;
    const { bytes, set, node } = lookup;
    const kind = bytes[set + SET.kind]!;
    const type = (bytes[set + SET.type]! << 8) | bytes[set + SET.type + 1]!;
    if (type === TYPE.CNAME || type === TYPE.PTR) return;
    const count = (bytes[set + SET.count]! << 8) | bytes[set + SET.count + 1]!;
    const nameAt = NAME_AT[kind]!;
    let record = set + SET.records;
    let rdata = first;
    this.#hosts = 0;
    for (let i = 0; i < count; i++) {
      const length = lengthAt(bytes, record);
      const isCut = kind <= KIND.mx && (bytes[record]! & (CUT_SHORT >> 8)) !== 0;
      const at = record + 2 + nameAt;
      const isAlias = kind === KIND.svcb && bytes[record + 2] === 0 && bytes[record + 3] === 0;
      if (kind === KIND.svcb && bytes[at] === 0) {
        // The owner itself serves; as an alias it says that nobody does.
        if (!isAlias && !this.#isGiven(node) && !this.#giveHost(node, owner, zoneAt)) return;
      } else if (
        isCut
          ? this.#host.join(bytes, at, length - nameAt - 2, name, lookup.zoneLabel)
          : this.#host.read(bytes, at, record + 2 + length) >= 0
      ) {
        const isApex = isCut && length === nameAt + 2;
        const host = isApex ? zoneAt : rdata + nameAt;
        // An alias of a service: its target's own record spares a question. RFC 9460 §4.1.
        if (!this.#giveAuthoritative(name, host, zoneAt, isAlias ? type : 0)) return;
      }
      record += 2 + length;
      rdata += HEAD_OCTETS + length;
    }
  }

  #giveAuthoritative(name: NameCursor, owner: number, zoneAt: number, also: number): boolean {
    const lookup = this.#lookup;
    const { bytes, set, node, zoneLabel, isWildcard } = lookup;
    if (!isWithin(this.#host, name, zoneLabel) || owner >= POINTER_LIMIT) return true;
    lookup.zoneLabel = this.#host.labels - (name.labels - zoneLabel);
    if (lookup.isOfDeeperZone(this.#host)) {
      lookup.zoneLabel = zoneLabel;
      return true;
    }
    const found = lookup.walk(this.#host, false);
    const host = found === FOUND.name && !lookup.isWildcard ? lookup.node : 0;
    lookup.zoneLabel = zoneLabel;
    lookup.node = node;
    lookup.isWildcard = isWildcard;
    let isDone = host === 0 || this.#isGiven(host) || this.#giveHost(host, owner, zoneAt);
    if (isDone && also !== 0 && host !== 0 && host !== node && lookup.findSet(host, also)) {
      isDone = this.#giveSet(owner, zoneAt);
    }
    lookup.bytes = bytes;
    lookup.set = set;
    return isDone;
  }

  /** A host as it answers itself: through the edge when it is proxied. */
  #giveHost(node: number, owner: number, zoneAt: number): boolean {
    const lookup = this.#lookup;
    const flags = lookup.flagsOf(node);
    if (!lookup.isProxied(flags)) return this.#giveAddresses(node, owner, zoneAt);
    const { bytes, set } = lookup;
    const fits = this.#giveEdge(flags, owner, zoneAt);
    lookup.bytes = bytes;
    lookup.set = set;
    return fits;
  }

  #giveEdge(flags: number, owner: number, zoneAt: number): boolean {
    const lookup = this.#lookup;
    const hasA = (flags & NAME.ipv6Only) === 0 && lookup.findZoneSet(BODY.edgeA);
    if (hasA && !this.#giveSet(owner, zoneAt)) return false;
    const hasAaaa = (flags & NAME.ipv4Only) === 0 && lookup.findZoneSet(BODY.edgeAaaa);
    return !hasAaaa || this.#giveSet(owner, zoneAt);
  }

  #giveAddresses(node: number, owner: number, zoneAt: number): boolean {
    const lookup = this.#lookup;
    const { bytes, set } = lookup;
    let fits = !lookup.findSet(node, TYPE.A) || this.#giveSet(owner, zoneAt);
    fits = fits && (!lookup.findSet(node, TYPE.AAAA) || this.#giveSet(owner, zoneAt));
    lookup.bytes = bytes;
    lookup.set = set;
    return fits;
  }

  #giveSet(owner: number, zoneAt: number): boolean {
    const { bytes, set } = this.#lookup;
    const count = this.#reply.set(bytes, set, owner, zoneAt, ttlOf(bytes, set));
    this.#reply.additionals += count;
    return count > 0;
  }

  /** Notes the node; true when its addresses are there already, or enough others are. */
  #isGiven(node: number): boolean {
    for (let i = 0; i < this.#hosts; i++) if (this.#given[i] === node) return true;
    if (this.#hosts === MAX_HOSTS) return true;
    this.#given[this.#hosts++] = node;
    return false;
  }
}

const NEEDED_FIRST = [true, false] as const;

function lengthAt(bytes: Uint8Array, record: number): number {
  return ((bytes[record]! << 8) | bytes[record + 1]!) & ~CUT_SHORT;
}

/** Whether the host is at or below the name from that label on. */
function isWithin(host: NameCursor, name: NameCursor, label: number): boolean {
  const from = host.labels - (name.labels - label);
  if (from < 0 || host.hashes[from] !== name.hashes[label]) return false;
  const [at, start] = [host.at[from]!, name.at[label]!];
  const length = name.length - start;
  if (host.length - at !== length) return false;
  for (let i = 0; i < length; i++) if (host.octets[at + i] !== name.octets[start + i]) return false;
  return true;
}
