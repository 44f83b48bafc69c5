/** DNS messages through dns-packet, a codec that is not ours: what a test asks and what it is told. */
import assert from "node:assert/strict";
import * as packet from "dns-packet";
import { packetType, printData, typeName } from "./dns-rdata.ts";

export interface Query {
  readonly name: string;
  readonly type: string;
  /** IN unless told. */
  readonly class?: string;
  readonly id?: number;
  /** The second 16 bits of the header, without QR. */
  readonly flags?: number;
  readonly edns?: EdnsQuery;
}

export interface EdnsQuery {
  readonly size: number;
  readonly flags: number;
  readonly options: readonly (readonly [code: number, data: Buffer])[];
}

export interface Rr {
  readonly owner: string;
  readonly ttl: number;
  readonly class: string;
  readonly type: string;
  /** In presentation text. */
  readonly data: string;
}

export interface Opt {
  readonly size: number;
  readonly version: number;
  readonly flags: number;
  readonly options: ReadonlyMap<number, Buffer>;
}

export interface Message {
  readonly id: number;
  readonly flags: number;
  readonly opcode: number;
  /** With the upper bits that the OPT record holds. */
  readonly rcode: string;
  /** The octets of the question section as they came. */
  readonly question: Buffer;
  /** The name in it, in its own letters. */
  readonly asked: string;
  readonly answer: readonly Rr[];
  readonly authority: readonly Rr[];
  /** Without the OPT record. */
  readonly additional: readonly Rr[];
  readonly opt: Opt | null;
  readonly length: number;
}

export const FLAG = {
  QR: 0x8000,
  AA: 0x0400,
  TC: 0x0200,
  RD: 0x0100,
  RA: 0x0080,
  Z: 0x0040,
  AD: 0x0020,
};

const RCODES: Readonly<Record<number, string>> = {
  0: "NOERROR",
  1: "FORMERR",
  2: "SERVFAIL",
  3: "NXDOMAIN",
  4: "NOTIMP",
  5: "REFUSED",
  6: "YXDOMAIN",
  9: "NOTAUTH",
  16: "BADVERS",
  23: "BADCOOKIE",
};

export function encodeQuery({ name, type, id = 0, flags = 0, edns, ...query }: Query): Buffer {
  const question = { name, type: packetType(type), class: query.class ?? "IN" };
  const opt = edns && {
    type: "OPT",
    name: ".",
    udpPayloadSize: edns.size,
    flags: edns.flags,
    options: edns.options.map(([code, data]) => ({ code, data })),
  };
  const message = packet.encode({
    type: "query",
    id,
    flags,
    questions: [question as packet.Question],
    additionals: opt === undefined ? [] : [opt as unknown as packet.Answer],
  });
  // dns-packet takes a size of 0 for none given.
  if (edns !== undefined) message.writeUInt16BE(edns.size, message.length - optLength(edns) + 3);
  return message;
}

function optLength({ options }: EdnsQuery): number {
  return 11 + options.reduce((sum, [, data]) => sum + 4 + data.length, 0);
}

/** Throws unless the message is whole and nothing follows it. */
export function decodeMessage(octets: Buffer): Message {
  const decoded = packet.decode(octets);
  assert.equal(packet.decode.bytes, octets.length, "octets that belong to no record");
  const flags = octets.readUInt16BE(2);
  const additional = decoded.additionals ?? [];
  const opts = additional.filter(isOpt);
  assert.ok(opts.length <= 1, "more than one OPT record");
  const opt = opts[0] === undefined ? null : readOpt(opts[0]);
  const rcode = (flags & 15) | ((opts[0]?.extendedRcode ?? 0) << 4);
  return {
    id: octets.readUInt16BE(0),
    flags,
    opcode: (flags >> 11) & 15,
    rcode: RCODES[rcode] ?? String(rcode),
    question: octets.subarray(12, questionEnd(octets)),
    asked: withDot(decoded.questions?.[0]?.name ?? "."),
    answer: (decoded.answers ?? []).map(readRecord),
    authority: (decoded.authorities ?? []).map(readRecord),
    additional: additional.filter((record) => !isOpt(record)).map(readRecord),
    opt,
    length: octets.length,
  };
}

export function showRecord({ owner, ttl, class: inClass, type, data }: Rr): string {
  return `${owner} ${ttl} ${inClass} ${type} ${data}`;
}

function withDot(name: string): string {
  return name === "." ? "." : `${name}.`;
}

function isOpt(record: packet.Answer): record is packet.OptAnswer {
  return record.type === "OPT";
}

function readOpt({ udpPayloadSize, ednsVersion, flags, options }: packet.OptAnswer): Opt {
  const entries = options.map(
    ({ code, data }) => [code as number, data ?? Buffer.alloc(0)] as const,
  );
  assert.equal(new Set(entries.map(([code]) => code)).size, entries.length, "an option twice");
  return { size: udpPayloadSize, version: ednsVersion, flags, options: new Map(entries) };
}

function readRecord(record: packet.Answer): Rr {
  const { name, ttl, class: inClass, data } = record as packet.BaseAnswer<string, unknown>;
  const type = typeName(record.type);
  return {
    owner: withDot(name),
    ttl: ttl ?? 0,
    class: inClass ?? "IN",
    type,
    data: printData(type, data),
  };
}

function questionEnd(octets: Buffer): number {
  let at = 12;
  for (let left = octets.readUInt16BE(4); left > 0; left--) {
    while (octets[at]! > 0 && octets[at]! < 0xc0) at += 1 + octets[at]!;
    at += (octets[at] === 0 ? 1 : 2) + 4;
  }
  return at;
}
