/** Turns the words of a case into a message. */
import assert from "node:assert/strict";
import { type Case, octetsOf } from "./dns-cases.ts";
import { type EdnsQuery, encodeQuery } from "./dns-message.ts";

export interface Question {
  readonly message: Buffer;
  readonly transport: "udp" | "tcp";
  readonly repeat: number;
  /** Null without EDNS, and where the message is raw: then the case itself says what is owed. */
  readonly edns: EdnsQuery | null;
}

/** Begins all cookies that are sent: RFC 7873 §4.1 has 8 octets of the client's own. */
export const CLIENT_COOKIE = Buffer.from("0102030405060708", "hex");

const CODE = { nsid: 3, cookie: 10 };
const HEADER_FLAG: Readonly<Record<string, number>> = { rd: 0x0100, ad: 0x0020, cd: 0x0010 };
const DO = 0x8000;
const DEFAULT_SIZE = 1232;

/** Each question has another ID, so that answers cannot be taken for each other's. */
let lastId = 0x1000;

/** @param cookie The server's cookie for us, where the case wants it. */
export function questionOf({ raw, words }: Case, cookie: Buffer): Question {
  if (raw) {
    const [transport, tokens] =
      words[0] === "tcp" ? ["tcp" as const, words.slice(1)] : ["udp" as const, words];
    return { message: octetsOf(tokens), transport, repeat: 1, edns: null };
  }
  const [name, type, ...options] = words;
  const asked = new Words(options);
  const transport = asked.has("tcp") ? "tcp" : "udp";
  const repeat = Number(asked.value("repeat") ?? 1);
  let flags = asked.hex("flags") | (Number(asked.value("opcode") ?? 0) << 11);
  for (const [word, flag] of Object.entries(HEADER_FLAG)) if (asked.has(word)) flags |= flag;
  const edns = ednsOf(asked, cookie);
  const inClass = asked.value("class") ?? "IN";
  asked.none();
  lastId = (lastId + 1) & 0xffff;
  const query = { name: name!, type: type!, id: lastId, flags, class: inClass };
  const message = encodeQuery(edns === null ? query : { ...query, edns });
  return { message, transport, repeat, edns };
}

function ednsOf(asked: Words, cookie: Buffer): EdnsQuery | null {
  const options: [number, Buffer][] = [];
  const hasNsid = asked.has("nsid");
  if (hasNsid) options.push([CODE.nsid, Buffer.alloc(0)]);
  const given = asked.value("cookie");
  if (given !== null)
    options.push([CODE.cookie, given === "ours" ? cookie : Buffer.from(given, "hex")]);
  for (let one = asked.value("opt"); one !== null; one = asked.value("opt")) {
    const [code, data = ""] = one.split(":");
    options.push([Number(code), Buffer.from(data, "hex")]);
  }
  const isSecure = asked.has("do");
  const flags = asked.hex("eflags") | (isSecure ? DO : 0);
  const isPlain = asked.has("edns");
  const size = asked.value("edns");
  const isWanted = isPlain || size !== null || flags !== 0 || options.length > 0;
  return isWanted ? { size: Number(size ?? DEFAULT_SIZE), flags, options } : null;
}

/** Words, each taken once; what is left over is a mistake in the file. */
export class Words {
  readonly #left: string[];

  constructor(words: readonly string[]) {
    this.#left = [...words];
  }

  has(word: string): boolean {
    const at = this.#left.indexOf(word);
    if (at !== -1) this.#left.splice(at, 1);
    return at !== -1;
  }

  /** Of `key=value`, the next one. */
  value(key: string): string | null {
    const at = this.#left.findIndex((word) => word.startsWith(`${key}=`));
    return at === -1 ? null : this.#left.splice(at, 1)[0]!.slice(key.length + 1);
  }

  hex(key: string): number {
    return Number.parseInt(this.value(key) ?? "0", 16);
  }

  none(): void {
    assert.deepEqual(this.#left, [], "words that mean nothing here");
  }
}
