/** What a resolver's reply says of a name's addresses. RFC 1034 §5.3.3, RFC 2308, RFC 6604. */
import { isSubdomain, lowerName, WireFault, WireReader } from "#dns";
import { CLASS, RCODE, TYPE } from "../codes.ts";
import type { Query } from "./query.ts";

export type Reading =
  | { readonly kind: "addresses"; readonly addresses: Uint8Array; readonly ttlSeconds: number }
  | { readonly kind: "nodata"; readonly ttlSeconds: number }
  /** An error, or a hint where else to ask: nothing is known of the name from here. */
  | { readonly kind: "useless"; readonly rcode: number };

/** As many links as our own chains may have. */
const MAX_LINKS = 16;
/** More than any service needs; so many A records still fit into a datagram. */
const MAX_ADDRESSES = 64;
/** A TTL with the highest bit set counts as zero. RFC 2181 §8. */
const MAX_TTL_SECONDS = 0x7fffffff;

interface Section {
  /** By owner in lower case. */
  readonly aliases: Map<string, { readonly target: string; readonly ttlSeconds: number }>;
  readonly addresses: { readonly owner: string; readonly ttlSeconds: number; rdata: Uint8Array }[];
}

/** Reads a reply whose id and question were matched. Throws a `WireFault` if it is not well formed. */
export function readReply(query: Query, message: Uint8Array): Reading {
  const reader = new WireReader(message, { at: query.questionEnd });
  const answer = readAnswer(reader, count(message, 6), query);
  const authority = readAuthority(reader, count(message, 8));
  const rcode = (message[3]! & 0x0f) | readExtendedRcode(reader, count(message, 10));
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return { kind: "useless", rcode };

  const end = followAliases(lowerName(query.name), answer.aliases);
  if (end === null) return { kind: "useless", rcode };
  const found = answer.addresses.filter(({ owner }) => owner === end.name);
  if (found.length > 0 && rcode === RCODE.NOERROR) {
    return {
      kind: "addresses",
      addresses: joinDistinct(found.map(({ rdata }) => rdata)),
      ttlSeconds: Math.min(end.ttlSeconds, ...found.map(({ ttlSeconds }) => ttlSeconds)),
    };
  }
  const soa = authority.soas.find(({ owner }) => isSubdomain(end.name, owner));
  // A referral: this server is not the resolver that it was taken for. RFC 2308 §2.2.
  if (soa === undefined && authority.hasNameservers) return { kind: "useless", rcode };
  // Without an SOA the denial has no time to live. RFC 2308 §5.
  return { kind: "nodata", ttlSeconds: Math.min(end.ttlSeconds, soa?.ttlSeconds ?? 0) };
}

function count(message: Uint8Array, at: number): number {
  return (message[at]! << 8) | message[at + 1]!;
}

function readAnswer(reader: WireReader, records: number, query: Query): Section {
  const section: Section = { aliases: new Map(), addresses: [] };
  const addressOctets = query.type === TYPE.A ? 4 : 16;
  for (let i = 0; i < records; i++) {
    const { owner, type, ttlSeconds, rdata } = readRecord(reader);
    if (type === TYPE.CNAME) {
      const target = lowerName(rdata.name());
      if (rdata.left > 0) throw new WireFault("A CNAME holds more than a name");
      if (!section.aliases.has(owner)) section.aliases.set(owner, { target, ttlSeconds });
    } else if (type === query.type && rdata.left === addressOctets) {
      section.addresses.push({ owner, ttlSeconds, rdata: rdata.bytes() });
    }
  }
  return section;
}

interface Authority {
  readonly soas: { readonly owner: string; readonly ttlSeconds: number }[];
  readonly hasNameservers: boolean;
}

/** Only for how long a denial holds; nothing else in this section is believed. */
function readAuthority(reader: WireReader, records: number): Authority {
  const soas: Authority["soas"] = [];
  let hasNameservers = false;
  for (let i = 0; i < records; i++) {
    const { owner, type, ttlSeconds, rdata } = readRecord(reader);
    if (type === TYPE.NS) hasNameservers = true;
    if (type !== TYPE.SOA) continue;
    rdata.name();
    rdata.name();
    rdata.bytes(16); // Serial, refresh, retry, expire.
    soas.push({ owner, ttlSeconds: Math.min(ttlSeconds, rdata.u32()) });
  }
  return { soas, hasNameservers };
}

/** The upper bits of the RCODE, which only the OPT record has. RFC 6891 §6.1.3. */
function readExtendedRcode(reader: WireReader, records: number): number {
  let upper = 0;
  for (let i = 0; i < records; i++) {
    reader.name();
    const type = reader.u16();
    reader.u16();
    const ttl = reader.u32();
    reader.part(reader.u16());
    if (type === TYPE.OPT) upper = (ttl >>> 24) << 4;
  }
  return upper;
}

/** The next record of class IN; what is of another class has no type that anyone looks at. */
function readRecord(reader: WireReader): {
  owner: string;
  type: number;
  ttlSeconds: number;
  rdata: WireReader;
} {
  const owner = lowerName(reader.name());
  const type = reader.u16();
  const isInternet = reader.u16() === CLASS.IN;
  const ttl = reader.u32();
  const rdata = reader.part(reader.u16());
  return {
    owner,
    type: isInternet ? type : 0,
    ttlSeconds: ttl > MAX_TTL_SECONDS ? 0 : ttl,
    rdata,
  };
}

/** Where the name's aliases lead within the reply, and the smallest TTL of them; null for a loop. */
function followAliases(
  start: string,
  aliases: Section["aliases"],
): { readonly name: string; readonly ttlSeconds: number } | null {
  let name = start;
  let ttlSeconds = Infinity;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const alias = aliases.get(name);
    if (alias === undefined) return { name, ttlSeconds };
    name = alias.target;
    ttlSeconds = Math.min(ttlSeconds, alias.ttlSeconds);
  }
  return null;
}

function joinDistinct(addresses: readonly Uint8Array[]): Uint8Array {
  const distinct = new Map<string, Uint8Array>();
  for (const address of addresses) {
    distinct.set(address.join(), address);
    if (distinct.size === MAX_ADDRESSES) break;
  }
  return Buffer.concat([...distinct.values()]);
}
