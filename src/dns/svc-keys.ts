/** The parameters of SVCB and HTTPS that have names: how each reads, prints and checks its value. */
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from "./address.ts";
import { decodeBase64 } from "./fields.ts";
import { decodeUtf8 } from "./text.ts";

/** Values are octets here, and text after its escapes are undone; null means not valid. */
export interface SvcKey {
  readonly key: number;
  readonly name: string;
  /** From the text of the value. */
  parse(text: Uint8Array): Uint8Array | null;
  /** Back to text; null when the octets are not what the key holds. */
  print(value: Uint8Array): Uint8Array | null;
}

/** A value that is text which ASCII can write. */
function ascii(
  key: number,
  name: string,
  parse: (text: string) => Uint8Array | null,
  print: (value: Uint8Array) => string | null,
): SvcKey {
  return {
    key,
    name,
    parse: (text) => parse(Buffer.from(text).toString("latin1")),
    print: (value) => {
      const text = print(value);
      return text === null ? null : Buffer.from(text, "latin1");
    },
  };
}

/** A value that must be empty. */
function flag(key: number, name: string): SvcKey {
  const onlyEmpty = (octets: Uint8Array) => (octets.length === 0 ? octets : null);
  return { key, name, parse: onlyEmpty, print: onlyEmpty };
}

/** A list of addresses, at least one. */
function hints(
  key: number,
  name: string,
  length: number,
  parse: (text: string) => Uint8Array | null,
  print: (octets: Uint8Array) => string,
): SvcKey {
  return ascii(
    key,
    name,
    (text) => {
      const addresses = text.split(",").map(parse);
      return addresses.every((address) => address !== null) ? Buffer.concat(addresses) : null;
    },
    (value) => (value.length === 0 ? null : (chunks(value, length)?.map(print).join(",") ?? null)),
  );
}

function chunks(value: Uint8Array, length: number): Uint8Array[] | null {
  if (value.length % length !== 0) return null;
  return Array.from({ length: value.length / length }, (_, i) => {
    return value.subarray(i * length, (i + 1) * length);
  });
}

const mandatory = ascii(
  0,
  "mandatory",
  (text) => {
    const keys = text.split(",").map(parseSvcKey);
    if (keys.includes(null)) return null;
    const sorted = (keys as number[]).sort((a, b) => a - b);
    return mandatoryKeys(Uint8Array.from(sorted.flatMap((key) => [key >> 8, key & 255])));
  },
  (value) =>
    mandatoryKeys(value) === null
      ? null
      : chunks(value, 2)!
          .map((k) => printSvcKey(word(k)))
          .join(","),
);

/** The value itself when its keys ascend, are not empty and do not hold `mandatory`. RFC 9460 §8. */
function mandatoryKeys(value: Uint8Array): Uint8Array | null {
  const keys = chunks(value, 2)?.map(word);
  if (keys === undefined || keys.length === 0) return null;
  return keys.every((key, i) => key > (i === 0 ? 0 : keys[i - 1]!)) ? value : null;
}

function word(octets: Uint8Array): number {
  return (octets[0]! << 8) | octets[1]!;
}

/** In the list a comma that belongs to an item is `\,`, and a backslash `\\`. RFC 9460 §A.1. */
const alpn: SvcKey = {
  key: 1,
  name: "alpn",
  parse: (text) => {
    const parts = [
      ...Buffer.from(text)
        .toString("latin1")
        .matchAll(/((?:[^\\,]|\\[\\,])*)(,|$)/gy),
    ];
    // A list that ends in an item ends with one more empty match, which is not an item.
    const items = parts.slice(0, 1 + parts.findIndex((part) => part[2] === ""));
    const read = items.reduce((sum, part) => sum + part[0].length, 0);
    const ids = items.map((part) => Buffer.from(part[1]!.replaceAll(/\\(.)/g, "$1"), "latin1"));
    if (read !== text.length || ids.length === 0 || !ids.every(isShort)) return null;
    return Buffer.concat(ids.flatMap((id) => [Uint8Array.of(id.length), id]));
  },
  print: (value) => {
    const items: string[] = [];
    for (let at = 0; at < value.length; at += value[at]! + 1) {
      const id = value.subarray(at + 1, at + 1 + value[at]!);
      if (id.length !== value[at] || id.length === 0) return null;
      items.push(Buffer.from(id).toString("latin1").replaceAll(/[\\,]/g, "\\$&"));
    }
    return items.length === 0 ? null : Buffer.from(items.join(","), "latin1");
  },
};

function isShort(octets: Uint8Array): boolean {
  return octets.length > 0 && octets.length <= 255;
}

const port = ascii(
  3,
  "port",
  (text) => {
    const value = /^\d{1,5}$/.test(text) ? Number(text) : -1;
    return value < 0 || value > 0xffff ? null : Uint8Array.of(value >> 8, value & 255);
  },
  (value) => (value.length === 2 ? String(word(value)) : null),
);

const ech = ascii(
  5,
  "ech",
  (text) => (text === "" ? null : decodeBase64(text)),
  (value) => (value.length === 0 ? null : Buffer.from(value).toString("base64")),
);

/** A URI template with the variable `dns`. RFC 9461 §5. */
const dohpath: SvcKey = { key: 7, name: "dohpath", parse: template, print: template };

function template(octets: Uint8Array): Uint8Array | null {
  const text = decodeUtf8(octets);
  if (text === null || !text.startsWith("/")) return null;
  const variables = [...text.matchAll(/\{([^{}]*)\}/g)].flatMap((match) => match[1]!.split(/\W/));
  return variables.includes("dns") ? octets : null;
}

const KEYS: readonly SvcKey[] = [
  mandatory,
  alpn,
  flag(2, "no-default-alpn"),
  port,
  hints(4, "ipv4hint", 4, parseIpv4, printIpv4),
  ech,
  hints(6, "ipv6hint", 16, parseIpv6, printIpv6),
  dohpath,
  flag(8, "ohttp"), // RFC 9540.
];

const byName = new Map(KEYS.map((key) => [key.name, key]));
const byNumber = new Map(KEYS.map((key) => [key.key, key]));

export function svcKey(key: number): SvcKey | null {
  return byNumber.get(key) ?? null;
}

export function svcKeyByName(name: string): SvcKey | null {
  return byName.get(name) ?? null;
}

/** The number of a key by its name or as `key667`; null when it is neither. 65535 is reserved. */
export function parseSvcKey(text: string): number | null {
  const name = text.toLowerCase();
  const known = byName.get(name);
  if (known !== undefined) return known.key;
  const number = /^key(0|[1-9]\d{0,4})$/.exec(name)?.[1];
  return number === undefined || Number(number) >= 0xffff ? null : Number(number);
}

export function printSvcKey(key: number): string {
  return byNumber.get(key)?.name ?? `key${key}`;
}
