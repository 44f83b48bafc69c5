/** What a record type is: one description that the codec, the zone file and the API all read. */
import { changeInput, type RecordInput, type ShownRecord } from "./api.ts";
import { type Codec, type DataOf, type Fields, inOrder } from "./codec.ts";
import { quote, RecordFault, WireFault } from "./fault.ts";
import { decodeHex } from "./fields.ts";
import { TextReader, tokenize } from "./text.ts";
import { WireReader, WireWriter } from "./wire.ts";

/** RDLENGTH is a u16. RFC 1035 §3.2.1. */
const MAX_RDATA_OCTETS = 0xffff;

/** Data whose unlimited part is smaller than this cannot reach the limit with all the rest. */
const NEAR_LIMIT = MAX_RDATA_OCTETS - 4096;

export interface RecordType<Data extends object = object> {
  /** The type's name in zone files and the API: `MX`, `TYPE731`. */
  readonly type: string;
  readonly code: number;
  /** The name of the type on the wire; another one for SPF, DKIM and DMARC, which are TXT there. */
  readonly wireType: string;
  /** Whether the API lets traffic to such a record pass through the platform. */
  readonly proxiable: boolean;
  /** Reads presentation text, or the opaque form of RFC 3597; the data is checked. */
  parse(text: string | TextReader, origin?: string): Data;
  /** Presentation text on one line, with absolute names. */
  print(data: Data): string;
  /** Reads RDATA of this length inside a message. Only the form is checked, not the sense. */
  read(wire: WireReader, length: number): Data;
  /** Writes RDATA inside a message, without its length. */
  write(wire: WireWriter, data: Data): void;
  /** RDATA by itself; `canonical` for DNSSEC and for comparing. */
  encode(data: Data, options?: { canonical?: boolean }): Uint8Array;
  decode(rdata: Uint8Array): Data;
  /** Throws the fault that the data has. */
  check(data: Data): void;
  /** Names whose addresses belong into the additional section. */
  additional(data: Data): readonly string[];
  readonly api: {
    show(data: Data): ShownRecord;
    /** Data from `content` or `data`; checked. */
    accept(input: RecordInput): Data;
    /** The data with only what the input has changed, as PATCH does; checked. */
    change(current: Data, input: RecordInput): Data;
  };
}

/** A type from the list, with whatever data is its own. */
export type AnyRecordType = RecordType;

interface CommonSpec<Data> {
  readonly type: string;
  readonly code: number;
  readonly wireType?: string;
  readonly proxiable?: boolean;
  /** What is wrong with data of the right form, or null. A sentence alone is about no one field. */
  readonly check?: (data: Data) => string | RecordFault | null;
  readonly additional?: (data: Data) => readonly string[];
  readonly api: {
    readonly show: (data: Data) => ShownRecord;
    readonly accept: (input: RecordInput) => Data;
  };
}

/** A type whose data is fields in wire order. */
export interface FieldsSpec<F extends Fields> extends CommonSpec<DataOf<F>> {
  readonly fields: F;
}

/** A type that reads and writes its data as a whole. */
export interface CodecSpec<Data> extends CommonSpec<Data> {
  readonly rdata: Codec<Data>;
}

export function defineRecord<F extends Fields>(spec: FieldsSpec<F>): RecordType<DataOf<F>>;
export function defineRecord<Data extends object>(spec: CodecSpec<Data>): RecordType<Data>;
export function defineRecord(spec: FieldsSpec<Fields> | CodecSpec<object>): RecordType {
  const codec: Codec<object> =
    "fields" in spec ? (inOrder(spec.fields) as Codec<object>) : spec.rdata;
  const judge = spec.check as ((data: object) => string | RecordFault | null) | undefined;
  const { api } = spec;

  const check = (data: object) => {
    const fault = judge?.(data) ?? null;
    if (fault !== null)
      throw typeof fault === "string" ? new RecordFault("bad-field", null, fault) : fault;
    if (codec.bulk(data) > NEAR_LIMIT) checkLength(spec.type, encode(data).length);
  };
  const checked = (data: object) => {
    check(data);
    return data;
  };
  const readAll = (wire: WireReader) => {
    const data = codec.read(wire);
    if (wire.left > 0) throw new WireFault(`${spec.type} data has ${wire.left} octets too many`);
    return data;
  };
  const encode = (data: object, options: { canonical?: boolean } = {}) => {
    const writer = new WireWriter(options);
    codec.write(writer, data);
    return writer.finish();
  };
  const decode = (rdata: Uint8Array) => readAll(new WireReader(rdata, { pointers: false }));

  return {
    type: spec.type,
    code: spec.code,
    wireType: spec.wireType ?? spec.type,
    proxiable: spec.proxiable ?? false,
    parse: (text, origin = ".") => {
      const reader = typeof text === "string" ? new TextReader(tokenize(text), origin) : text;
      if (isOpaque(reader)) return checked(decodeOpaque(spec.type, reader, decode));
      const data = codec.parse(reader);
      reader.end();
      return checked(data);
    },
    print: codec.print,
    read: (wire, length) => readAll(wire.part(length)),
    write: codec.write,
    encode,
    decode,
    check,
    additional:
      (spec.additional as ((data: object) => readonly string[]) | undefined) ?? (() => []),
    api: {
      show: api.show,
      accept: (input) => checked(api.accept(input)),
      change: (current, input) => checked(api.accept(changeInput(api.show(current), input))),
    },
  };
}

function checkLength(type: string, length: number): void {
  if (length <= MAX_RDATA_OCTETS) return;
  throw new RecordFault(
    "too-long",
    null,
    `${type} data of ${length} octets; ${MAX_RDATA_OCTETS} are the limit`,
  );
}

function isOpaque(text: TextReader): boolean {
  const token = text.peek();
  return token !== undefined && !token.quoted && token.text === "\\#";
}

function decodeOpaque(
  type: string,
  text: TextReader,
  decode: (rdata: Uint8Array) => object,
): object {
  const rdata = parseOpaque(text);
  try {
    return decode(rdata);
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    throw new RecordFault("bad-text", null, `Not ${type} data: ${error.message}`, { cause: error });
  }
}

/** `\# 3 abcdef`: the octets of data in hex, in any grouping, after their number. RFC 3597 §5. */
export function parseOpaque(text: TextReader): Uint8Array {
  text.next("data"); // The mark itself.
  const length = text.word("length");
  const hex = text.rest().map((token) => token.text);
  const octets = decodeHex(hex.join(""));
  if (octets === null) {
    throw new RecordFault("bad-field", "data", `The data ${quote(hex.join(" "))} is not hex`);
  }
  if (!/^\d{1,5}$/.test(length) || Number(length) !== octets.length) {
    throw new RecordFault(
      "bad-field",
      "length",
      `The length is ${quote(length)}, but there are ${octets.length} octets`,
    );
  }
  return octets;
}

export function printOpaque(octets: Uint8Array): string {
  const hex = Buffer.from(octets).toString("hex");
  return `\\# ${octets.length}${hex === "" ? "" : ` ${hex}`}`;
}
