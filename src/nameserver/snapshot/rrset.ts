/** RRsets as the snapshot keeps them: all but their owner ready to be copied into a response. */
import { TYPE } from "../codes.ts";
import { CUT_SHORT, KIND, SET } from "./layout.ts";

/** One record of a set, on its way into the snapshot. */
export interface SetRecord {
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/** RDLENGTH and the set's length are 16 bits; the rules of records keep far below. */
const MAX_SET_OCTETS = 0xffff;

const KINDS = new Map<number, number>([
  [TYPE.NS, KIND.name],
  [TYPE.CNAME, KIND.name],
  [TYPE.PTR, KIND.name],
  [TYPE.MX, KIND.mx],
  [TYPE.SRV, KIND.srv],
  [TYPE.SVCB, KIND.svcb],
  [TYPE.HTTPS, KIND.svcb],
]);

/** How far into the RDATA the name stands, by kind. */
export const NAME_AT: readonly number[] = [0, 0, 2, 6, 2];

/** Sets one after the other in a buffer that is used again and again. */
export class SetBuilder {
  #buffer = Buffer.allocUnsafe(16 * 1024);
  length = 0;
  count = 0;

  get octets(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = this.count = 0;
  }

  /** Adds the set of records of one type: the smallest TTL for all, no record twice. */
  add(given: readonly SetRecord[], zoneName: Uint8Array): void {
    const records = distinct(given);
    const { type } = records[0]!;
    const kind = KINDS.get(type) ?? KIND.opaque;
    const start = this.length;
    let at = this.#room(start, SET.records);
    for (const { rdata } of records) at = this.#addRecord(at, kind, rdata, zoneName);
    const length = at - start - SET.records;
    if (length > MAX_SET_OCTETS) throw new Error(`An RRset of type ${type} has ${length} octets`);
    const buffer = this.#buffer;
    buffer.writeUInt16BE(type, start + SET.type);
    buffer[start + SET.kind] = kind;
    buffer.writeUInt16BE(records.length, start + SET.count);
    buffer.writeUInt32BE(Math.min(...records.map(({ ttl }) => ttl)), start + SET.ttl);
    buffer.writeUInt16BE(length, start + SET.length);
    this.length = at;
    this.count++;
  }

  #addRecord(at: number, kind: number, rdata: Uint8Array, zoneName: Uint8Array): number {
    const end = this.#room(at, 2 + rdata.length);
    const mayCut = kind === KIND.name || kind === KIND.mx;
    const cut = mayCut ? placeOfZone(rdata, NAME_AT[kind]!, zoneName) : -1;
    if (cut < 0) {
      this.#buffer.writeUInt16BE(rdata.length, at);
      this.#buffer.set(rdata, at + 2);
      return end;
    }
    this.#buffer.writeUInt16BE((cut + 2) | CUT_SHORT, at);
    this.#buffer.set(rdata.subarray(0, cut), at + 2);
    this.#buffer.writeUInt16BE(0, at + 2 + cut);
    return at + 2 + cut + 2;
  }

  #room(at: number, octets: number): number {
    if (at + octets > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (at + octets));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at + octets;
  }
}

/** Where in the name at this place the zone's name begins; -1 when the name is of another zone. */
function placeOfZone(rdata: Uint8Array, nameAt: number, zoneName: Uint8Array): number {
  for (let at = nameAt; ; at += rdata[at]! + 1) {
    const left = rdata.length - at;
    if (left < zoneName.length) return -1;
    if (left === zoneName.length) return isSameName(rdata, at, zoneName) ? at : -1;
  }
}

function isSameName(octets: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) {
    const octet = octets[at + i]!;
    if ((octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet) !== name[i]) return false;
  }
  return true;
}

function distinct(records: readonly SetRecord[]): readonly SetRecord[] {
  if (records.length === 1) return records;
  const seen = new Map(records.map((one) => [Buffer.from(one.rdata).toString("latin1"), one]));
  const ttl = Math.min(...records.map((one) => one.ttl));
  return [...seen.values()].map((one) => ({ ...one, ttl }));
}
