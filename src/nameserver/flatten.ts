/** CNAME flattening: the addresses at the end of a chain under the name that was asked for. */
import { EDE, RCODE, TYPE } from "./codes.ts";
import { FOUND, type Lookup } from "./lookup.ts";
import { LEADS_NOWHERE, NEEDS_OUTSIDE } from "./outcome.ts";
import { STALE_TTL_SECONDS } from "./outside/target-store.ts";
import { type Reply, ttlOf } from "./reply.ts";
import {
  BODY,
  CUT_SHORT,
  NAME,
  SEGMENT_BITS,
  SEGMENT_MASK,
  SET,
  TARGET,
  TARGET_FAILED,
  TARGET_STALE,
} from "./snapshot/layout.ts";
import { NameCursor } from "./snapshot/name-cursor.ts";
import { targetHash, targetKey } from "./snapshot/target-key.ts";

/** Links that are followed inside the zones served here. */
const MAX_LINKS = 16;

export class Flattener {
  readonly #lookup: Lookup;
  readonly #reply: Reply;
  readonly #names: readonly [NameCursor, NameCursor];
  readonly #key = new Uint8Array(257);
  /** The outside name that must be known first. */
  wanted: NameCursor;
  ede: number = EDE.NONE;
  /** Seconds since the epoch. */
  now = 0;

  constructor(seed: number, lookup: Lookup, reply: Reply) {
    this.#lookup = lookup;
    this.#reply = reply;
    this.#names = [new NameCursor(seed), new NameCursor(seed)];
    this.wanted = this.#names[0];
  }

  /** Follows the CNAME of the node that was found; writes its addresses under `owner`. */
  flatten(name: NameCursor, type: number, owner: number): number {
    this.ede = EDE.NONE;
    const lookup = this.#lookup;
    let from = name;
    let ttl = 0xffff_ffff;
    for (let link = 0; link < MAX_LINKS; link++) {
      lookup.findSet(lookup.node, TYPE.CNAME);
      ttl = Math.min(ttl, ttlOf(lookup.bytes, lookup.set));
      const target = this.#names[link & 1]!;
      if (!this.#readTarget(target, from)) return RCODE.SERVFAIL;
      from = target;
      if (!lookup.findZone(target, 0)) return this.#fromOutside(target, type, owner, ttl);
      const found = lookup.walk(target, false);
      if (found === FOUND.cut) return this.#fromOutside(target, type, owner, ttl);
      if (found === FOUND.missing) return LEADS_NOWHERE;
      if (this.#findAddresses(type)) return this.#give(owner, ttl);
      const flags = lookup.flagsOf(lookup.node);
      if (lookup.isProxied(flags) || (flags & NAME.hasCname) === 0) return LEADS_NOWHERE;
    }
    this.ede = EDE.OTHER; // A circle, or as good as one.
    return RCODE.SERVFAIL;
  }

  #readTarget(target: NameCursor, from: NameCursor): boolean {
    const { bytes, set, zoneLabel } = this.#lookup;
    const length = (bytes[set + SET.records]! << 8) | bytes[set + SET.records + 1]!;
    const at = set + SET.records + 2;
    if ((length & CUT_SHORT) === 0) return target.read(bytes, at, at + length) >= 0;
    return target.join(bytes, at, (length & ~CUT_SHORT) - 2, from, zoneLabel);
  }

  #findAddresses(type: number): boolean {
    const lookup = this.#lookup;
    const flags = lookup.flagsOf(lookup.node);
    if (!lookup.isProxied(flags)) return lookup.findSet(lookup.node, type);
    const isLeftOut = ((type === TYPE.A ? NAME.ipv6Only : NAME.ipv4Only) & flags) !== 0;
    return !isLeftOut && lookup.findZoneSet(type === TYPE.A ? BODY.edgeA : BODY.edgeAaaa);
  }

  #give(owner: number, ttl: number): number {
    const { bytes, set } = this.#lookup;
    const count = this.#reply.set(bytes, set, owner, owner, Math.min(ttl, ttlOf(bytes, set)));
    this.#reply.answers += count;
    if (count === 0) this.#reply.truncate();
    return RCODE.NOERROR;
  }

  /** From what the resolvers said last. */
  #fromOutside(target: NameCursor, type: number, owner: number, ttl: number): number {
    const { reader } = this.#lookup;
    const key = targetKey(target, type, this.#key);
    const hash = targetHash(target.hashes[0]!, type);
    const entry = reader.find(reader.targets, hash, key, 0, target.length + 1);
    this.wanted = target;
    if (entry === 0) return NEEDS_OUTSIDE;
    const body = reader.body(entry);
    const left = (reader.get(body, TARGET.expires) >>> 0) - this.now;
    if (left <= 0) return NEEDS_OUTSIDE;
    reader.set(body, TARGET.asked, 1);
    const state = reader.get(body, TARGET.state);
    this.ede = (state & 0xff) - 1;
    if ((state & TARGET_FAILED) !== 0) return RCODE.SERVFAIL;
    const isStale = (state & TARGET_STALE) !== 0;
    if (isStale) this.ede = EDE.STALE_ANSWER;
    const seconds = Math.min(ttl, isStale ? STALE_TTL_SECONDS : left);
    const count = reader.get(body, TARGET.count);
    if (count === 0) return LEADS_NOWHERE;
    const size = type === TYPE.A ? 4 : 16;
    const bytes = reader.bytes[body >>> SEGMENT_BITS]!;
    const at = (body & SEGMENT_MASK) + 4 * TARGET.addresses;
    const first = this.#reply.turn(count);
    for (let i = 0; i < count; i++) {
      const address = at + ((first + i) % count) * size;
      if (!this.#reply.record(owner, type, seconds, bytes, address, size)) {
        this.#reply.truncate();
        return RCODE.NOERROR;
      }
      this.#reply.answers++;
    }
    return RCODE.NOERROR;
  }
}
