/**
 * From the octets of a query to those of its response: the stages in their order. Reads only the
 * snapshot; what it needs besides is known when it is made.
 */
import { Additional } from "./additional.ts";
import { Answerer } from "./answer.ts";
import { answerChaos } from "./chaos.ts";
import {
  type Client,
  PLAIN_UDP_OCTETS,
  STREAM_OCTETS,
  TRANSPORT,
  UDP_PAYLOAD_OCTETS,
} from "./client.ts";
import { CLASS, EDE, OPCODE, RCODE, TYPE } from "./codes.ts";
import { Cookies } from "./cookies.ts";
import { Flattener } from "./flatten.ts";
import { Lookup } from "./lookup.ts";
import { OptWriter } from "./opt.ts";
import { NEEDS_OUTSIDE } from "./outcome.ts";
import { Query, READ } from "./query.ts";
import { ABOUT, LIMIT, RateLimit, type RateLimitSettings } from "./rate-limit.ts";
import { Reply } from "./reply.ts";
import { RESPONSE_COUNTERS, ResponseCounters } from "./response-counters.ts";
import type { ReaderHandle } from "./snapshot/handle.ts";
import { SnapshotReader } from "./snapshot/reader.ts";
import { readTsig, type Tsig, writeBadKey } from "./tsig.ts";

export { type Client, TRANSPORT } from "./client.ts";

/** The query needs a name outside that is not known: the main thread must answer it. */
export const DEFERRED = -1;

/** What a responder is told; can be sent to a thread. */
export interface ResponderSettings {
  readonly cookieSecret: Uint8Array;
  /** For NSID and `hostname.bind`; null says nothing. */
  readonly identity: string | null;
  /** For `version.bind`; null says nothing. */
  readonly version: string | null;
  readonly rateLimit: RateLimitSettings | null;
  /** `RESPONSE_COUNTERS` doubles for each reader's slot. */
  readonly counters: SharedArrayBuffer;
}

const HEADER_OCTETS = 12;

export class Responder {
  readonly #reader: SnapshotReader;
  readonly #query: Query;
  readonly #reply = new Reply();
  readonly #answerer: Answerer;
  readonly #flattener: Flattener;
  readonly #lookup: Lookup;
  readonly #opt: OptWriter;
  readonly #limit: RateLimit | null;
  readonly #counters: ResponseCounters;
  readonly #texts: { readonly version: Uint8Array | null; readonly identity: Uint8Array | null };
  readonly #onFault: (cause: unknown) => void;
  #now = 0;
  #ede: number = EDE.NONE;
  /** Whether the answerer was asked: the server answers for itself, too. */
  #isFromZone = false;
  /** Queries of one zone in a row are counted together. */
  #zoneCounters = 0;
  #zoneQueries = 0;

  constructor(
    reader: SnapshotReader,
    settings: ResponderSettings,
    onFault: (cause: unknown) => void = () => {},
  ) {
    const { seed } = reader;
    this.#reader = reader;
    this.#query = new Query(seed);
    this.#lookup = new Lookup(reader);
    this.#flattener = new Flattener(seed, this.#lookup, this.#reply);
    this.#answerer = new Answerer(seed, {
      lookup: this.#lookup,
      reply: this.#reply,
      additional: new Additional(seed, this.#lookup, this.#reply),
      flattener: this.#flattener,
    });
    const octets = (text: string | null) =>
      text === null ? null : Buffer.from(text).subarray(0, 255);
    this.#texts = { version: octets(settings.version), identity: octets(settings.identity) };
    this.#opt = new OptWriter(new Cookies(settings.cookieSecret, null), this.#texts.identity);
    this.#limit = settings.rateLimit === null ? null : new RateLimit(settings.rateLimit);
    const all = new Float64Array(settings.counters);
    const first = (reader.slot * RESPONSE_COUNTERS) % all.length;
    this.#counters = new ResponseCounters(all.subarray(first, first + RESPONSE_COUNTERS));
    this.#onFault = onFault;
  }

  /** Takes the newest snapshot and holds it until `end`. */
  begin(nowMs: number): void {
    this.#reader.begin();
    this.#now = Math.floor(nowMs / 1000);
    this.#flattener.now = this.#now;
    this.#limit?.begin(nowMs);
  }

  end(): void {
    this.#flushZone();
    this.#reader.end();
  }

  /**
   * Answers one message. Returns the length of the response, 0 for none, or DEFERRED. A fault of ours
   * is SERVFAIL for this query and nothing to others.
   */
  respond(
    query: Uint8Array,
    start: number,
    length: number,
    client: Client,
    reply: Uint8Array,
    at: number,
  ): number {
    try {
      return this.#respond(query, start, length, client, reply, at);
    } catch (cause) {
      this.#onFault(cause);
      this.#query.questionEnd = HEADER_OCTETS;
      this.#reply.begin(reply, at, this.#query);
      this.#counters.count(RCODE.SERVFAIL, this.#query.type);
      return this.#reply.finish(this.#query, RCODE.SERVFAIL);
    }
  }

  /** The outside name that the last query was deferred for, in wire form, and its type. */
  get wanted(): { readonly name: Uint8Array; readonly type: number } {
    const { octets, length } = this.#flattener.wanted;
    return { name: octets.slice(0, length), type: this.#query.type };
  }

  #respond(
    message: Uint8Array,
    start: number,
    length: number,
    client: Client,
    out: Uint8Array,
    at: number,
  ): number {
    const query = this.#query;
    const reply = this.#reply;
    const read = query.read(message, start, length);
    if (read === READ.drop) return 0;
    // What could not be understood is not repeated.
    if (read === READ.formErr || read === READ.notImp) query.questionEnd = HEADER_OCTETS;
    reply.begin(out, at, query);
    const limit = at + sizeLimit(query, client);
    reply.limit = limit - this.#opt.reserve(query, client, this.#now);
    this.#ede = EDE.NONE;
    this.#isFromZone = false;
    const tsig = read === READ.ok && query.tsigAt !== 0 ? readTsig(query) : null;
    let rcode = read === READ.ok ? this.#answer(client, tsig) : refusals[read]!;
    if (reply.truncated && client.transport !== TRANSPORT.udp) {
      // There is no larger message to send the client to.
      reply.truncated = false;
      rcode = RCODE.SERVFAIL;
    }
    if (rcode === NEEDS_OUTSIDE) return DEFERRED;
    if (client.transport === TRANSPORT.udp && this.#limit !== null) {
      const verdict = this.#checkRate(this.#limit, client, rcode);
      if (verdict !== LIMIT.pass) this.#counters.countLimited();
      if (verdict === LIMIT.drop) return 0;
      if (verdict === LIMIT.slip) reply.truncate();
    }
    reply.limit = limit;
    if (query.hasOpt) this.#opt.write(query, reply, client, this.#now, rcode, this.#ede);
    // It stands last. RFC 8945 §5.1.
    if (tsig !== null) writeBadKey(tsig, reply);
    this.#counters.count(rcode, query.type);
    return reply.finish(query, rcode);
  }

  #answer(client: Client, tsig: Tsig | null): number {
    const query = this.#query;
    if (query.tsigAt !== 0) return tsig === null ? RCODE.FORMERR : RCODE.NOTAUTH;
    if (query.opcode === OPCODE.NOTIFY) return this.#refuseFor(RCODE.REFUSED);
    if (query.class === CLASS.CH) return answerChaos(query, this.#reply, this.#texts);
    if (query.class !== CLASS.IN) return RCODE.REFUSED;
    switch (query.type) {
      case 0:
      case TYPE.OPT:
      case TYPE.TSIG:
      case TYPE.TKEY:
        return RCODE.FORMERR;
      case TYPE.NXNAME:
        this.#ede = EDE.INVALID_QUERY_TYPE;
        return RCODE.FORMERR;
      case TYPE.AXFR:
      case TYPE.IXFR:
        if (client.transport === TRANSPORT.udp && query.type === TYPE.AXFR) return RCODE.FORMERR;
        return this.#refuseFor(RCODE.REFUSED);
    }
    const rcode = this.#answerer.answer(query);
    this.#isFromZone = true;
    this.#ede = this.#answerer.ede;
    // What has to wait is counted when it is answered.
    if (rcode !== NEEDS_OUTSIDE) this.#countZone(this.#answerer.counters);
    return rcode;
  }

  /** For a zone served here the given code; else the server is not the one to ask. */
  #refuseFor(rcode: number): number {
    return this.#lookup.findZone(this.#query.name, 0) ? rcode : RCODE.NOTAUTH;
  }

  #checkRate(limit: RateLimit, client: Client, rcode: number): number {
    const { address, addressLength } = client;
    if (this.#opt.isKnownClient || limit.isExempt(address, addressLength)) return LIMIT.pass;
    const isAnswer = rcode === RCODE.NOERROR && this.#reply.answers > 0;
    const isError = rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN;
    const about = isAnswer ? ABOUT.answer : isError ? ABOUT.error : ABOUT.denial;
    const subject = this.#isFromZone && !isError ? this.#answerer.subject : 0;
    return limit.check(address, addressLength, about, subject);
  }

  #countZone(counters: number): void {
    if (counters !== this.#zoneCounters) {
      this.#flushZone();
      this.#zoneCounters = counters;
    }
    this.#zoneQueries++;
  }

  #flushZone(): void {
    if (this.#zoneCounters !== 0) {
      const reader = this.#reader;
      const slots = reader.get(this.#zoneCounters, 0) - 1;
      const word = 1 + Math.min(reader.slot, slots - 1);
      reader.set(
        this.#zoneCounters,
        word,
        reader.get(this.#zoneCounters, word) + this.#zoneQueries,
      );
    }
    this.#zoneCounters = this.#zoneQueries = 0;
  }
}

/** By what came of reading the message. */
const refusals: Readonly<Record<number, number>> = {
  [READ.formErr]: RCODE.FORMERR,
  [READ.notImp]: RCODE.NOTIMP,
  [READ.badVersion]: RCODE.BADVERS,
  [READ.cookieOnly]: RCODE.NOERROR,
};

/** RFC 6891 §6.2.3: the client's own size, within ours. */
function sizeLimit(query: Query, { transport }: Client): number {
  if (transport !== TRANSPORT.udp) return STREAM_OCTETS;
  if (!query.hasOpt) return PLAIN_UDP_OCTETS;
  return Math.max(PLAIN_UDP_OCTETS, Math.min(query.udpSize, UDP_PAYLOAD_OCTETS));
}

/** What a thread does first: it gets a responder for its part of the snapshot. */
export function connect(
  handle: ReaderHandle,
  onFault?: (cause: unknown) => void,
): (settings: ResponderSettings) => Responder {
  const reader = new SnapshotReader(handle);
  return (settings) => new Responder(reader, settings, onFault);
}
