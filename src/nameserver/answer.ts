/** Answers a question from the snapshot: the algorithm of RFC 1034 §4.3.2 with what came later. */
import type { Additional } from "./additional.ts";
import { EDE, RCODE, TYPE } from "./codes.ts";
import type { Flattener } from "./flatten.ts";
import { FOUND, type Lookup } from "./lookup.ts";
import { FOLLOW, LEADS_NOWHERE } from "./outcome.ts";
import type { Query } from "./query.ts";
import { type Reply, ttlOf } from "./reply.ts";
import { BODY, CUT_SHORT, NAME, SET, ZONE } from "./snapshot/layout.ts";
import { NameCursor } from "./snapshot/name-cursor.ts";

/** Links of a CNAME chain that are followed; longer ones are mistakes or attacks. */
const MAX_LINKS = 16;

/** The question's name stands right after the header. */
const QUESTION_NAME = 12;

/** One a thread; its state is that of the question being answered. */
export class Answerer {
  readonly #lookup: Lookup;
  readonly #reply: Reply;
  readonly #additional: Additional;
  readonly #flattener: Flattener;
  readonly #spare: readonly [NameCursor, NameCursor];
  /** The hashes of the names on the way. */
  readonly #visited = new Int32Array(MAX_LINKS + 1);
  #name: NameCursor;
  #type = 0;
  #links = 0;
  /** Where the present name and its zone's name stand in the response. */
  #owner = QUESTION_NAME;
  #zoneAt = QUESTION_NAME;
  /** An extended error to go with the answer. */
  ede: number = EDE.NONE;
  /** The counter block of the first zone that answered; 0 for none. */
  counters = 0;
  /** What the answer is about: a node, or the zone. For the rate limit. */
  subject = 0;

  constructor(
    seed: number,
    parts: { lookup: Lookup; reply: Reply; additional: Additional; flattener: Flattener },
  ) {
    this.#lookup = parts.lookup;
    this.#reply = parts.reply;
    this.#additional = parts.additional;
    this.#flattener = parts.flattener;
    this.#spare = [new NameCursor(seed), new NameCursor(seed)];
    this.#name = this.#spare[0];
  }

  /** Writes the sections; returns the RCODE, or NEEDS_OUTSIDE. */
  answer(query: Query): number {
    this.#name = query.name;
    this.#type = query.type;
    this.#links = 0;
    this.#owner = QUESTION_NAME;
    this.ede = EDE.NONE;
    this.counters = this.subject = 0;
    let zone = 0;
    for (;;) {
      if (!this.#findZone()) {
        if (this.#links > 0) return RCODE.NOERROR; // The chain leads elsewhere: the resolver goes on.
        this.ede = EDE.NOT_AUTHORITATIVE;
        return RCODE.REFUSED;
      }
      const lookup = this.#lookup;
      if (lookup.zone !== zone) {
        zone = lookup.zone;
        this.#zoneAt = this.#owner + this.#name.at[lookup.zoneLabel]!;
      }
      if (this.counters === 0) this.counters = lookup.reader.get(lookup.body, BODY.counters);
      const outcome = this.#inZone();
      if (outcome !== FOLLOW) return outcome;
    }
  }

  /** The question for DS belongs to the parent's side of a cut. RFC 4035 §3.1.4.1. */
  #findZone(): boolean {
    const lookup = this.#lookup;
    const name = this.#name;
    if (!lookup.findZone(name, 0)) return false;
    if (this.#type !== TYPE.DS || lookup.zoneLabel !== 0) return true;
    return lookup.findZone(name, 1) || lookup.findZone(name, 0);
  }

  #inZone(): number {
    const lookup = this.#lookup;
    const found = lookup.walk(this.#name, this.#type === TYPE.DS);
    if (found === FOUND.cut) return this.#refer();
    if (this.#links === 0) {
      this.#reply.authoritative = true;
      // A zone's own entry is another with each change; its counters stay.
      this.subject = found === FOUND.name ? lookup.node : this.counters;
    }
    return found === FOUND.missing ? this.#deny(RCODE.NXDOMAIN) : this.#atNode();
  }

  /** Another server's name: where to ask, and its addresses. */
  #refer(): number {
    const lookup = this.#lookup;
    const reply = this.#reply;
    if (this.#links === 0) this.subject = lookup.node;
    const cut = this.#owner + this.#name.at[lookup.label]!;
    lookup.findSet(lookup.node, TYPE.NS);
    const { bytes, set } = lookup;
    const first = reply.nextRdata;
    const count = reply.set(bytes, set, cut, this.#zoneAt, ttlOf(bytes, set));
    reply.authorities += count;
    const isWhole = count > 0 && this.#additional.glue(this.#name, first, this.#zoneAt);
    if (!isWhole) reply.truncate();
    return RCODE.NOERROR;
  }

  #atNode(): number {
    const lookup = this.#lookup;
    const { node } = lookup;
    const type = this.#type;
    const flags = lookup.flagsOf(node);
    const isApex = lookup.zoneLabel === 0;
    const isProxied = lookup.isProxied(flags);
    if (type === TYPE.ANY) return this.#any(flags, isProxied, isApex);
    if (isProxied && isEdgeType(type)) return this.#fromEdge(flags);
    if (isApex && type === TYPE.SOA) return this.#fromZone(BODY.soa);
    if (isApex && type === TYPE.NS) return this.#fromZone(BODY.ns);
    const isHidden = isProxied || this.#isFlattened(flags);
    if (type === TYPE.CNAME && isHidden) return this.#deny(RCODE.NOERROR);
    if (lookup.findSet(node, type)) return this.#giveSet();
    if ((flags & NAME.hasCname) !== 0 && !standsBesideCname(type)) {
      if (!isHidden) return this.#follow();
      if (!isProxied && (type === TYPE.A || type === TYPE.AAAA)) return this.#flatten();
    }
    const isOurs = isProxied && type === TYPE.HTTPS;
    return isOurs ? this.#fromZone(httpsWord(flags)) : this.#deny(RCODE.NOERROR);
  }

  #isFlattened(flags: number): boolean {
    if ((flags & NAME.hasCname) === 0) return false;
    return (flags & NAME.flattened) !== 0 || (this.#lookup.zoneFlags & ZONE.flattensAll) !== 0;
  }

  /** What a proxied name answers with: the edge, never what lies behind it. */
  #fromEdge(flags: number): number {
    const type = this.#type;
    const isLeftOut = (type === TYPE.A ? NAME.ipv6Only : NAME.ipv4Only) & flags;
    if (type === TYPE.CNAME || isLeftOut !== 0) return this.#deny(RCODE.NOERROR);
    return this.#fromZone(type === TYPE.A ? BODY.edgeA : BODY.edgeAaaa);
  }

  #fromZone(word: number): number {
    return this.#lookup.findZoneSet(word) ? this.#giveSet() : this.#deny(RCODE.NOERROR);
  }

  /** One set stands for all: whole answers to ANY are only good for attacks. RFC 8482. */
  #any(flags: number, isProxied: boolean, isApex: boolean): number {
    const lookup = this.#lookup;
    const hidesCname = isProxied || this.#isFlattened(flags);
    if (lookup.findSmallest(lookup.node, isProxied, hidesCname)) return this.#giveSet();
    if (isProxied) {
      const hasA = (flags & NAME.ipv6Only) === 0 && lookup.findZoneSet(BODY.edgeA);
      return hasA ? this.#giveSet() : this.#fromZone(BODY.edgeAaaa);
    }
    return isApex ? this.#fromZone(BODY.soa) : this.#deny(RCODE.NOERROR);
  }

  /** Puts the set that was found into the answer. */
  #giveSet(): number {
    const { bytes, set } = this.#lookup;
    const reply = this.#reply;
    const first = reply.nextRdata;
    const count = reply.set(bytes, set, this.#owner, this.#zoneAt, ttlOf(bytes, set));
    if (count === 0) {
      reply.truncate();
      return RCODE.NOERROR;
    }
    reply.answers += count;
    if (bytes[set + SET.kind]! > 0) {
      this.#additional.forAnswer(this.#name, first, this.#owner, this.#zoneAt);
    }
    return RCODE.NOERROR;
  }

  /** A CNAME: puts it into the answer and makes its target the present name. */
  #follow(): number {
    const lookup = this.#lookup;
    const reply = this.#reply;
    const hash = this.#name.hashes[0]!;
    for (let i = 0; i < this.#links; i++) {
      if (this.#visited[i] === hash) return RCODE.NOERROR; // In a circle: what was found is all.
    }
    if (this.#links === MAX_LINKS) return RCODE.NOERROR;
    this.#visited[this.#links++] = hash;
    lookup.findSet(lookup.node, TYPE.CNAME);
    const { bytes, set } = lookup;
    const rdata = reply.nextRdata;
    if (reply.set(bytes, set, this.#owner, this.#zoneAt, ttlOf(bytes, set)) === 0) {
      reply.truncate();
      return RCODE.NOERROR;
    }
    reply.answers++;
    const next = this.#spare[this.#links & 1]!;
    const length = (bytes[set + SET.records]! << 8) | bytes[set + SET.records + 1]!;
    const at = set + SET.records + 2;
    const isCut = (length & CUT_SHORT) !== 0;
    const labels = isCut ? (length & ~CUT_SHORT) - 2 : 0;
    const isName = isCut
      ? next.join(bytes, at, labels, this.#name, lookup.zoneLabel)
      : next.read(bytes, at, at + length) >= 0;
    if (!isName) return RCODE.SERVFAIL;
    this.#owner = isCut && labels === 0 ? this.#zoneAt : rdata;
    this.#name = next;
    return FOLLOW;
  }

  #flatten(): number {
    const lookup = this.#lookup;
    const { zone, body, zoneLabel } = lookup;
    const outcome = this.#flattener.flatten(this.#name, this.#type, this.#owner);
    // It has looked elsewhere; what follows is about this zone again.
    [lookup.zone, lookup.body, lookup.zoneLabel] = [zone, body, zoneLabel];
    this.ede = this.#flattener.ede;
    return outcome === LEADS_NOWHERE ? this.#deny(RCODE.NOERROR) : outcome;
  }

  /** There is nothing: the SOA says for how long that may be remembered. RFC 2308 §3. */
  #deny(rcode: number): number {
    const lookup = this.#lookup;
    const reply = this.#reply;
    lookup.findZoneSet(BODY.soa);
    const { bytes, set } = lookup;
    const length = (bytes[set + SET.length]! << 8) | bytes[set + SET.length + 1]!;
    const end = set + SET.records + length;
    const minimum =
      ((bytes[end - 4]! << 24) |
        (bytes[end - 3]! << 16) |
        (bytes[end - 2]! << 8) |
        bytes[end - 1]!) >>>
      0;
    const ttl = Math.min(minimum, ttlOf(bytes, set));
    if (reply.set(bytes, set, this.#zoneAt, this.#zoneAt, ttl) === 0) reply.truncate();
    else reply.authorities++;
    return rcode;
  }
}

/** Types that a name may have beside its CNAME. RFC 4035 §2.5. */
function standsBesideCname(type: number): boolean {
  return type === TYPE.RRSIG || type === TYPE.NSEC || type === TYPE.KEY;
}

/** The HTTPS record of a proxied name hints at no address that the name itself does not give. */
function httpsWord(flags: number): number {
  if ((flags & NAME.ipv4Only) !== 0) return BODY.edgeHttps4;
  return (flags & NAME.ipv6Only) !== 0 ? BODY.edgeHttps6 : BODY.edgeHttps;
}

function isEdgeType(type: number): boolean {
  return type === TYPE.A || type === TYPE.AAAA || type === TYPE.CNAME;
}
