/** Holds a response against what its case says, and against what every response owes. */
import assert from "node:assert/strict";
import { CLIENT_COOKIE, type Question, Words } from "./dns-ask.ts";
import { type Expected, octetsOf, type SectionName } from "./dns-cases.ts";
import { FLAG, type Message, type Rr, showRecord } from "./dns-message.ts";
import { checkReplyHeader, checkRrsets, checkWire } from "./dns-wire-rules.ts";

/** The nameserver's own: what it takes, and the most it sends over UDP. RFC 9715. */
const SERVER_SIZE = 1232;
const PLAIN_SIZE = 512;
const DO = 0x8000;
const OPTION = { nsid: 3, expire: 9, cookie: 10, keepalive: 11, ede: 15 };
/** Types whose data has names that may be compressed, and nothing else with letters. */
const NAME_TYPES: ReadonlySet<string> = new Set(["NS", "CNAME", "PTR", "MX", "SOA"]);
const SECTIONS: readonly SectionName[] = ["answer", "authority", "additional"];

export interface Known {
  /** The data of the zone's SOA, as the API tells it. */
  readonly soaOf: (zone: string) => string;
  /** What NSID and its kin must say. */
  readonly identity: string;
}

export function checkResponse(
  octets: Buffer,
  response: Message,
  question: Question,
  expected: Expected,
  known: Known,
): void {
  checkWire(octets);
  checkReplyHeader(question.message, response);
  checkRrsets(response);
  checkSize(response, question);
  const words = new Words(expected.words.slice(1));
  assert.ok(expected.words[0]!.split("|").includes(response.rcode), `RCODE ${response.rcode}`);
  for (const flag of ["AA", "TC"] as const) {
    if (words.has(`${flag}?`)) continue;
    assert.equal((response.flags & FLAG[flag]) !== 0, words.has(flag), flag);
  }
  checkForm(response, question);
  checkOpt(response, question, words, known);
  for (let bytes = words.value("bytes"); bytes !== null; bytes = words.value("bytes")) {
    assert.equal(response.length, Number(bytes), "octets");
  }
  const most = words.value("atmost");
  if (most !== null) assert.ok(response.length <= Number(most), `${response.length} octets`);
  const all = SECTIONS.flatMap((name) => response[name]).map(showRecord);
  for (let text = words.value("never"); text !== null; text = words.value("never")) {
    const leak = text;
    assert.equal(
      all.find((line) => line.includes(leak)),
      undefined,
      `${leak} is never told`,
    );
  }
  words.has("varies");
  words.has("stable");
  words.none();
  for (const name of SECTIONS)
    checkSection(name, response[name], expected[name], known, response.asked);
  if (expected.hex !== null) checkHex(octets, expected.hex);
}

function checkSize({ length }: Message, { transport, edns, message }: Question): void {
  if (transport === "tcp") return;
  const isRaw = edns === null && message.readUInt16BE(10) > 0;
  const limit = isRaw ? SERVER_SIZE : edns === null ? PLAIN_SIZE : edns.size;
  assert.ok(length <= Math.max(PLAIN_SIZE, Math.min(limit, SERVER_SIZE)), `${length} octets`);
}

/** What follows from RCODE and TC alone. */
function checkForm({ rcode, flags, ...sections }: Message, { transport, message }: Question): void {
  const { answer, authority, additional, question } = sections;
  if (flags & FLAG.TC) {
    assert.equal(transport, "udp", "TC over TCP");
    assert.deepEqual(
      [answer, authority, additional],
      [[], [], []],
      "a truncated response is empty",
    );
  }
  if (rcode === "NOERROR" || rcode === "NXDOMAIN") {
    assert.equal(question.length === 0, message.readUInt16BE(4) === 0, "the question is there");
  } else assert.deepEqual([answer, authority], [[], []], `sections beside ${rcode}`);
}

function checkOpt(response: Message, question: Question, words: Words, known: Known): void {
  const { opt } = response;
  const isFree = words.has("opt?");
  const isBare = words.has("noopt");
  const isWanted = words.has("opt") || (question.edns !== null && !isBare);
  if (!isFree) assert.equal(opt !== null, isWanted, "OPT");
  const options = new Map(opt?.options);
  const take = (code: number) => {
    const data = options.get(code) ?? null;
    options.delete(code);
    return data;
  };
  if (opt !== null) {
    assert.deepEqual(
      [opt.size, opt.version],
      [SERVER_SIZE, 0],
      "size and version of the OPT record",
    );
    assert.equal(opt.flags & ~DO, 0, "only DO is known");
    if (question.edns !== null)
      assert.equal(opt.flags & DO, question.edns.flags & DO, "DO is copied");
  }
  checkExtendedError(take(OPTION.ede), words);
  if (words.has("nsid")) assert.equal(take(OPTION.nsid)?.toString(), known.identity, "NSID");
  if (words.has("cookie")) checkCookie(take(OPTION.cookie));
  if (words.has("keepalive")) assert.equal(take(OPTION.keepalive)?.length, 2, "keepalive");
  const expire = words.value("expire");
  if (expire !== null) assert.equal(take(OPTION.expire)?.readUInt32BE(0), Number(expire), "EXPIRE");
  assert.deepEqual([...options.keys()], [], "options that nobody asked for");
}

function checkExtendedError(data: Buffer | null, words: Words): void {
  const must = words.value("ede");
  const may = words.value("ede?");
  const code = data === null ? null : data.readUInt16BE(0);
  if (must !== null) assert.equal(code, Number(must), "extended error");
  else if (code !== null) assert.equal(code, Number(may), "an extended error that is not due");
}

/** RFC 9018 §4: our own 8 octets, then 16 of the server's. */
function checkCookie(data: Buffer | null): void {
  assert.equal(data?.length, 24, "a client cookie and a server cookie");
  assert.deepEqual(data.subarray(0, 8), CLIENT_COOKIE);
  assert.equal(data[8], 1, "the version of the server cookie");
}

function checkSection(
  name: SectionName,
  got: readonly Rr[],
  expected: readonly string[],
  known: Known,
  asked: string,
): void {
  const [first] = expected;
  if (first === "*") return;
  const groups = rrsets(got.map((record) => spelled(record, asked)));
  if (first === "* one rrset") {
    assert.equal(groups.length, 1, `one RRset in the ${name} section`);
    return;
  }
  const wanted = rrsets(expected.map((line) => spelled(parseRecord(line, known), asked)));
  const lines = (sets: readonly Rr[][]) => sets.map((set) => set.map(showRecord).sort());
  // The records of an answer follow from each other; elsewhere the order of RRsets says nothing.
  const order = (sets: string[][]) =>
    name === "answer" ? sets : sets.sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
  assert.deepEqual(order(lines(groups)), order(lines(wanted)), `the ${name} section`);
}

/**
 * The name that was asked for comes back in its own letters (RFC 1034 §3.1 wants case kept); of other names
 * compression may take parts from it.
 */
function spelled(record: Rr, asked: string): Rr {
  const { owner, type, data } = record;
  const isAsked = owner.toLowerCase() === asked.toLowerCase();
  return {
    ...record,
    owner: isAsked ? owner : owner.toLowerCase(),
    data: NAME_TYPES.has(type) ? data.toLowerCase() : data,
  };
}

function rrsets(records: readonly Rr[]): Rr[][] {
  const sets: Rr[][] = [];
  for (const record of records) {
    const last = sets.at(-1)?.[0];
    if (last?.owner === record.owner && last.type === record.type) sets.at(-1)!.push(record);
    else sets.push([record]);
  }
  return sets;
}

/** `OWNER TTL CLASS TYPE DATA`; a SOA without data is the zone's own. */
function parseRecord(line: string, known: Known): Rr {
  const [, owner, ttl, inClass, type, data] = /^(\S+) +(\d+) +(\S+) +(\S+) *(.*)$/.exec(line) ?? [];
  assert.ok(owner !== undefined, `"${line}" is not a record`);
  const text = type === "SOA" && data === "" ? known.soaOf(owner.toLowerCase()) : data!;
  return { owner, ttl: Number(ttl), class: inClass!, type: type!, data: text };
}

function checkHex(octets: Buffer, pattern: string): void {
  const tokens = pattern.split(/\s+/);
  const isOpen = tokens.at(-1) === "*";
  const wanted = tokens
    .filter((token) => token !== "*")
    .map((token) =>
      /^\.+$/.test(token) && token.length > 1 ? token : octetsOf([token]).toString("hex"),
    )
    .join("");
  const got = octets.toString("hex");
  const masked = wanted.replaceAll(/[^.]/g, (_, i: number) => got[i] ?? "");
  assert.equal(masked, wanted, `the octets are ${got}`);
  if (!isOpen) assert.equal(got.length, wanted.length, `the octets are ${got}`);
}
