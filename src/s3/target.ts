/**
 * What a request is about: its bucket by path or by host, its key, its query. The target is read as it
 * stands: `//`, `..`, a plus and a last slash are part of a key, so no URL parser may touch it.
 */
import { remember } from "#kit/remember.ts";
import { S3Fault } from "./fault.ts";

export type QueryPairs = readonly (readonly [name: string, value: string])[];

export interface Target {
  /** As it came, up to the query. */
  readonly path: string;
  /** Percent-decoded, in the order given. */
  readonly query: QueryPairs;
  /** Empty where the request is about the account. */
  readonly bucket: string;
  /** Empty where it is about a bucket. */
  readonly key: string;
}

/** `host` is what the client meant; `domains` those under which buckets have names of their own. */
export function readTarget(target: string, host: string, domains: readonly string[]): Target {
  // A request may name its target by the whole address. RFC 9112 §3.2.2.
  const url = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "");
  const mark = url.indexOf("?");
  const path = (mark === -1 ? url : url.slice(0, mark)) || "/";
  const query = mark === -1 ? [] : readQuery(url.slice(mark + 1));
  const hostBucket = domains.length === 0 ? "" : bucketOfHost(host, domains);
  if (hostBucket !== "") return { path, query, bucket: hostBucket, key: decoded(path.slice(1)) };
  const slash = path.indexOf("/", 1);
  const bucket = decoded(slash === -1 ? path.slice(1) : path.slice(1, slash));
  const key = slash === -1 ? "" : decoded(path.slice(slash + 1));
  if (bucket === "" && key !== "") throw new S3Fault("InvalidBucketName");
  return { path, query, bucket, key };
}

/** The labels before the domain; empty when the host is the domain itself, an address, or another's. */
export function bucketOfHost(host: string, domains: readonly string[]): string {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  for (const domain of domains) {
    if (name.endsWith(domain) && name[name.length - domain.length - 1] === ".") {
      return name.slice(0, -domain.length - 1);
    }
  }
  return "";
}

const ASCII = /^[\0-\x7f]*$/;

const EQUALS = 0x3d;

/** Names by their place in a query, as they came last: clients send the same ones over and over. */
const usual: string[] = [];
const MAX_USUAL = 32;

/** Differs from forms: a plus is a plus. */
function readQuery(text: string): QueryPairs {
  if (text === "") return [];
  const isAscii = ASCII.test(text); // Once for all of them: most have nothing to decode.
  const pairs: [string, string][] = [];
  for (let at = 0, end: number; at < text.length; at = end + 1) {
    end = text.indexOf("&", at);
    if (end === -1) end = text.length;
    if (end === at) continue;
    let name = usual[pairs.length] ?? "&"; // Which no name has.
    let equals = at + name.length;
    if (!text.startsWith(name, at) || text.charCodeAt(equals) !== EQUALS) {
      equals = at + text.slice(at, end).indexOf("=");
      if (equals < at) equals = end;
      name = readName(text.slice(at, equals), pairs.length);
    }
    const value = text.slice(equals + 1, end);
    pairs.push([name, isAscii && !value.includes("%") ? value : decoded(value)]);
  }
  return pairs;
}

function readName(text: string, place: number): string {
  const name = nameOf(text);
  if (name === text && place < MAX_USUAL) usual[place] = name;
  return name;
}

/** Remembered: the names are few. What they are copied to is asked for quicker, too, than pieces of a URL. */
const nameOf = remember((text) => decoded(text));

const PLAIN = /^[\x21-\x24\x26-\x7e]*$/;

/** Node hands octets beyond ASCII over as Latin-1; they are UTF-8 like those that are escaped. */
export function decoded(text: string): string {
  if (PLAIN.test(text)) return text;
  try {
    return decodeURIComponent(ASCII.test(text) ? text : escaped(text));
  } catch (cause) {
    throw new S3Fault("InvalidURI", undefined, { cause });
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
}
