/** The parameters of SVCB and HTTPS: `alpn="h2,h3" port="8443"`. RFC 9460 §2.1, §2.2. */
import { quote, RecordFault, WireFault } from "./fault.ts";
import { type Field, stringField } from "./fields.ts";
import { parseSvcKey, printSvcKey, svcKey, svcKeyByName } from "./svc-keys.ts";
import { contentReader, printQuoted, type TextReader, unescapeText } from "./text.ts";

export interface SvcParam {
  readonly key: number;
  /** As on the wire. */
  readonly value: Uint8Array;
}

/** Ascending by key, each once. */
export type SvcParams = readonly SvcParam[];

/** No key, and so no value, beyond this: the number is reserved. RFC 9460 §14.3. */
const RESERVED_KEY = 0xffff;

export const svcParams: Field<SvcParams> = {
  read: (wire) => {
    const params: SvcParam[] = [];
    while (wire.left > 0) {
      const key = wire.u16();
      const value = wire.bytes(wire.u16());
      if (key <= (params.at(-1)?.key ?? -1)) throw new WireFault("Parameter keys do not ascend");
      if (key === RESERVED_KEY) throw new WireFault("Parameter key 65535 is reserved");
      if (svcKey(key)?.print(value) === null) {
        throw new WireFault(`The value of ${printSvcKey(key)} is not valid`);
      }
      params.push({ key, value });
    }
    return params;
  },
  write: (wire, params) => {
    for (const { key, value } of params) {
      wire.u16(key);
      wire.u16(value.length);
      wire.bytes(value);
    }
  },
  parse: (text, name) => {
    const params: SvcParam[] = [];
    while (text.left > 0) params.push(parseParam(text, name));
    params.sort((a, b) => a.key - b.key);
    const twice = params.find(({ key }, i) => key === params[i + 1]?.key);
    if (twice !== undefined) throw badValue(name, `${printSvcKey(twice.key)} is there twice`);
    return params;
  },
  print: (params) => params.map(printParam).join(" "),
  take: (json, name) => {
    const text = contentReader(stringField(json, name));
    return svcParams.parse(text, name);
  },
  give: (params) => svcParams.print(params),
  bulk: (params) => params.reduce((sum, { value }) => sum + 4 + value.length, 0),
};

function parseParam(text: TextReader, name: string): SvcParam {
  const word = text.next(name);
  const match = /^([^=]+)(?:=(.*))?$/s.exec(word.text);
  if (word.quoted || word.joined || match === null) {
    throw badValue(name, `${quote(word.text)} is not a parameter`);
  }
  const keyName = match[1]!.toLowerCase();
  const key = parseSvcKey(keyName);
  if (key === null) throw badValue(name, `${quote(match[1])} is not a parameter's name`);
  let raw = match[2] ?? "";
  if (match[2] === "" && text.peek()?.joined === true) raw = text.next(name).text;
  const octets = unescapeText(raw);
  const known = svcKeyByName(keyName);
  const value = known === null ? octets : known.parse(octets);
  // The numeric form of a known key has the octets of the wire, and they must be right too.
  if (value === null || svcKey(key)?.print(value) === null) {
    throw badValue(name, `${quote(raw)} is not a value of ${printSvcKey(key)}`);
  }
  if (value.length > 0xffff) throw new RecordFault("too-long", name, `${keyName} is too long`);
  return { key, value };
}

function printParam({ key, value }: SvcParam): string {
  const name = printSvcKey(key);
  const text = svcKey(key)?.print(value) ?? value;
  return text.length === 0 ? name : `${name}=${printQuoted(text)}`;
}

/** What parameters owe each other: what is mandatory is there, and no default needs another. */
export function checkSvcParams(params: SvcParams): RecordFault | null {
  const keys = new Set(params.map((param) => param.key));
  const mandatory = params.find((param) => param.key === 0)?.value ?? new Uint8Array();
  for (let at = 0; at < mandatory.length; at += 2) {
    const key = (mandatory[at]! << 8) | mandatory[at + 1]!;
    if (!keys.has(key)) return badValue("value", `${printSvcKey(key)} is mandatory, but not there`);
  }
  return keys.has(2) && !keys.has(1) ? badValue("value", "no-default-alpn needs alpn") : null;
}

function badValue(field: string, message: string): RecordFault {
  return new RecordFault("bad-field", field, message);
}
