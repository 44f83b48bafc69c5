/** What every response owes on the wire, whatever was asked: RFC 1035 §4.1.4, RFC 3597 §4, RFC 2181 §5. */
import assert from "node:assert/strict";
import { FLAG, type Message } from "./dns-message.ts";

/** Where a name stands in a record's data, and whether it may be compressed. RFC 3597 §4. */
const NAMES_IN_DATA: Readonly<Record<number, { skip: number; names: number; compress: boolean }>> =
  {
    2: { skip: 0, names: 1, compress: true }, // NS
    5: { skip: 0, names: 1, compress: true }, // CNAME
    6: { skip: 0, names: 2, compress: true }, // SOA
    12: { skip: 0, names: 1, compress: true }, // PTR
    15: { skip: 2, names: 1, compress: true }, // MX
    33: { skip: 6, names: 1, compress: false }, // SRV
    64: { skip: 2, names: 1, compress: false }, // SVCB
    65: { skip: 2, names: 1, compress: false }, // HTTPS
  };
const NAPTR = 35;
const OPT = 41;

/** Pointers have 14 bits. */
const POINTER_REACH = 0x4000;

/** Throws unless each name is written as it may be, and each record ends where it says. */
export function checkWire(octets: Buffer): void {
  new WireWalk(octets).message();
}

/** Throws unless header and question answer this query. */
export function checkReplyHeader(query: Buffer, { id, flags, opcode, question }: Message): void {
  assert.equal(id, query.readUInt16BE(0), "the ID of the query");
  const asked = query.readUInt16BE(2);
  assert.ok(flags & FLAG.QR, "QR");
  assert.equal(opcode, (asked >> 11) & 15, "the opcode of the query");
  assert.equal(flags & FLAG.RD, asked & FLAG.RD, "RD is copied");
  assert.equal(flags & (FLAG.RA | FLAG.Z | FLAG.AD), 0, "RA, Z and AD are clear");
  const echoed = query.subarray(12, 12 + question.length);
  assert.equal(question.toString("hex"), echoed.toString("hex"), "the question is echoed");
}

/** Throws unless each RRset stands together, has one TTL, and no record twice. */
export function checkRrsets({ answer, authority, additional }: Message): void {
  for (const section of [answer, authority, additional]) {
    const ttls = new Map<string, number>();
    let last = "";
    for (const { owner, type, ttl, data } of section) {
      const rrset = `${owner.toLowerCase()} ${type}`;
      if (ttls.has(rrset)) {
        assert.equal(last, rrset, `the records of ${rrset} stand together`);
        assert.equal(ttl, ttls.get(rrset), `${rrset} has one TTL`);
      }
      last = rrset;
      ttls.set(rrset, ttl);
      const twins = section.filter((r) => r.type === type && r.data === data && r.owner === owner);
      assert.equal(twins.length, 1, `${owner} ${type} ${data} is there once`);
    }
  }
}

class WireWalk {
  readonly #octets: Buffer;
  #at = 12;
  /** Where a label has begun: what a pointer may point to. */
  readonly #labels = new Set<number>();

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  message(): void {
    const count = (field: number) => this.#octets.readUInt16BE(4 + 2 * field);
    for (let left = count(0); left > 0; left--) {
      this.#name(false); // Nothing stands before it that a pointer could mean.
      this.#at += 4;
    }
    for (let left = count(1) + count(2) + count(3); left > 0; left--) this.#record();
    assert.equal(this.#at, this.#octets.length, "nothing follows the last record");
  }

  #record(): void {
    const from = this.#at;
    this.#name(true);
    const type = this.#octets.readUInt16BE(this.#at);
    if (type === OPT) assert.equal(this.#octets[from], 0, "the owner of OPT is the root, in full");
    const length = this.#octets.readUInt16BE(this.#at + 8);
    this.#at += 10;
    const end = this.#at + length;
    const { skip, names, compress } = NAMES_IN_DATA[type] ?? { skip: 0, names: 0, compress: false };
    this.#at += skip;
    if (type === NAPTR) this.#at += this.#naptrSkip();
    for (let left = type === NAPTR ? 1 : names; left > 0; left--) this.#name(compress);
    assert.ok(this.#at <= end, `a name runs over the data of type ${type}`);
    this.#at = end;
  }

  /** Order, preference, then three strings. */
  #naptrSkip(): number {
    let skip = 4;
    for (let left = 3; left > 0; left--) skip += 1 + this.#octets[this.#at + skip]!;
    return skip;
  }

  #name(mayCompress: boolean): void {
    for (;;) {
      const at = this.#at;
      const length = this.#octets[at]!;
      if (length >= 0xc0) {
        assert.ok(mayCompress, `a name is compressed at ${at}, where that is not allowed`);
        const target = this.#octets.readUInt16BE(at) - 0xc000;
        assert.ok(
          target < at && target < POINTER_REACH && this.#labels.has(target),
          `pointer at ${at}`,
        );
        this.#at += 2;
        return;
      }
      assert.ok(length < 64, `label type at ${at}`);
      this.#labels.add(at);
      this.#at += 1 + length;
      if (length === 0) return;
    }
  }
}
