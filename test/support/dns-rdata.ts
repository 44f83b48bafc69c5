/** Record data as dns-packet decodes it, in presentation text: what the expectations are written in. */
import type * as packet from "dns-packet";

/** Types that dns-packet knows by number only. */
const NAMES: Readonly<Record<string, string>> = {
  UNKNOWN_53: "SMIMEA",
  UNKNOWN_61: "OPENPGPKEY",
  UNKNOWN_64: "SVCB",
  UNKNOWN_65: "HTTPS",
  UNKNOWN_256: "URI",
};
const CODES = Object.fromEntries(Object.entries(NAMES).map(([code, name]) => [name, code]));

export function typeName(decoded: string): string {
  return NAMES[decoded] ?? decoded.replace("UNKNOWN_", "TYPE");
}

/** The type as dns-packet wants it. */
export function packetType(name: string): packet.RecordType {
  return (CODES[name] ?? name.replace(/^TYPE(?=\d)/, "UNKNOWN_")) as packet.RecordType;
}

const PARAMS = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"];

/** dns-packet drops the last dot. */
const dot = (name: string) => (name === "." ? "." : `${name}.`);

const printers: Readonly<Record<string, (data: never) => string>> = {
  A: (data: string) => data,
  AAAA: (data: string) => data,
  NS: dot,
  CNAME: dot,
  PTR: dot,
  MX: ({ preference, exchange }: packet.MxData) => `${preference} ${dot(exchange)}`,
  SOA: (data: packet.SoaData) => {
    const { mname, rname, serial, refresh, retry, expire, minimum } = data;
    return [dot(mname), dot(rname), serial, refresh, retry, expire, minimum].join(" ");
  },
  TXT: (data: Buffer[]) => data.map(quoted).join(" "),
  SRV: ({ priority, weight, port, target }: packet.SrvData) =>
    `${priority} ${weight} ${port} ${dot(target)}`,
  CAA: ({ flags, tag, value }: packet.CaaData) => `${flags} ${tag} ${JSON.stringify(value)}`,
  DS: ({ keyTag, algorithm, digestType, digest }: packet.DsData) =>
    `${keyTag} ${algorithm} ${digestType} ${digest.toString("hex")}`,
  HINFO: ({ cpu, os }: packet.HInfoData) => `${JSON.stringify(cpu)} ${JSON.stringify(os)}`,
  NAPTR: (data: packet.NaptrData) => {
    const { order, preference, flags, services, regexp, replacement } = data;
    const texts = [flags, services, regexp].map((text) => JSON.stringify(text));
    return [order, preference, ...texts, dot(replacement)].join(" ");
  },
  SVCB: serviceBinding,
  HTTPS: serviceBinding,
};

export function printData(type: string, data: unknown): string {
  const print = printers[type];
  if (print !== undefined) return print(data as never);
  const octets = Buffer.isBuffer(data) ? data.toString("hex") : JSON.stringify(data);
  return `\\# ${octets.length / 2} ${octets}`;
}

function quoted(octets: Buffer): string {
  const escaped = [...octets].map((octet) => {
    if (octet < 0x20 || octet > 0x7e) return `\\${String(octet).padStart(3, "0")}`;
    return octet === 0x22 || octet === 0x5c
      ? `\\${String.fromCharCode(octet)}`
      : String.fromCharCode(octet);
  });
  return `"${escaped.join("")}"`;
}

/** RFC 9460 §2.2. dns-packet leaves these octets alone. */
function serviceBinding(octets: Buffer): string {
  const words = [String(octets.readUInt16BE(0))];
  let at = 2;
  const labels: string[] = [];
  for (let length = octets[at]!; length > 0; at += 1 + length, length = octets[at]!) {
    labels.push(octets.toString("latin1", at + 1, at + 1 + length));
  }
  words.push(`${labels.join(".")}.`);
  at += 1;
  while (at < octets.length) {
    const length = octets.readUInt16BE(at + 2);
    words.push(parameter(octets.readUInt16BE(at), octets.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return words.join(" ");
}

function parameter(key: number, value: Buffer): string {
  const name = PARAMS[key] ?? `key${key}`;
  switch (name) {
    case "alpn":
      return `alpn=${strings(value).join(",")}`;
    case "port":
      return `port=${value.readUInt16BE(0)}`;
    case "ipv4hint":
      return `ipv4hint=${pieces(value, 4)
        .map((address) => address.join("."))
        .join()}`;
    case "ipv6hint":
      return `ipv6hint=${pieces(value, 16).map(ipv6).join()}`;
    default:
      return value.length === 0 ? name : `${name}=${value.toString("hex")}`;
  }
}

function strings(octets: Buffer): string[] {
  const list: string[] = [];
  for (let at = 0; at < octets.length; at += 1 + octets[at]!) {
    list.push(octets.toString("latin1", at + 1, at + 1 + octets[at]!));
  }
  return list;
}

function pieces(octets: Buffer, size: number): Buffer[] {
  const count = octets.length / size;
  return Array.from({ length: count }, (_, i) => octets.subarray(i * size, (i + 1) * size));
}

/** As a URL writes it: RFC 5952. */
function ipv6(octets: Buffer): string {
  const groups = pieces(octets, 2).map((group) => group.toString("hex"));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
