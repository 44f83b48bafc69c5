/** The OPT record of a response: EDNS and the options that we answer. RFC 6891, RFC 7873, RFC 8914. */
import { EDE, OPTION, TYPE } from "./codes.ts";
import { COOKIE, type Cookies } from "./cookies.ts";
import type { Query } from "./query.ts";
import type { Reply } from "./reply.ts";
import { type Client, isStream, TRANSPORT, UDP_PAYLOAD_OCTETS } from "./client.ts";

const OPT_OCTETS = 11;
const OPTION_HEAD_OCTETS = 4;
const CLIENT_COOKIE_OCTETS = 8;
const SERVER_COOKIE_OCTETS = 16;
const EDE_OCTETS = OPTION_HEAD_OCTETS + 2;
const EXPIRE_OCTETS = OPTION_HEAD_OCTETS + 4;
const KEEPALIVE_OCTETS = OPTION_HEAD_OCTETS + 2;
/** Connections may idle for 10 s. In units of 100 ms. RFC 7828 §3.1. */
const KEEPALIVE = 100;
/** Responses on encrypted transports are padded to a multiple of this. RFC 8467 §4.1. */
const PADDING_BLOCK = 468;

export class OptWriter {
  readonly #cookies: Cookies;
  readonly #identity: Uint8Array | null;
  /** Whether the query brought a cookie of ours: its address is real. */
  isKnownClient = false;

  constructor(cookies: Cookies, identity: Uint8Array | null) {
    this.#cookies = cookies;
    this.#identity = identity;
  }

  /** Octets to keep for the record; looks at the query's cookie. */
  reserve(query: Query, client: Client, nowSeconds: number): number {
    this.isKnownClient = false;
    if (!query.hasOpt) return 0;
    let octets = OPT_OCTETS;
    if (query.cookieLength > 0) {
      octets += OPTION_HEAD_OCTETS + CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS;
      if (query.cookieLength === CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS) {
        const { address, addressLength } = client;
        this.isKnownClient =
          this.#cookies.check(nowSeconds, query.message, query.cookieAt, address, addressLength) !==
          COOKIE.invalid;
      }
    }
    if (query.wantsNsid) octets += OPTION_HEAD_OCTETS + (this.#identity?.length ?? 0);
    if (query.wantsKeepalive) octets += KEEPALIVE_OCTETS;
    if (query.wantsExpire) octets += EXPIRE_OCTETS;
    return octets;
  }

  /** Writes the record after all others. The room was kept, but for an extended error. */
  write(
    query: Query,
    reply: Reply,
    client: Client,
    nowSeconds: number,
    rcode: number,
    ede: number,
  ): void {
    const { out } = reply;
    const start = reply.at;
    const isSoa = query.wantsExpire && isSoaAnswer(query, reply);
    out[start] = 0;
    out[start + 1] = 0;
    out[start + 2] = TYPE.OPT;
    out[start + 3] = UDP_PAYLOAD_OCTETS >> 8;
    out[start + 4] = UDP_PAYLOAD_OCTETS & 0xff;
    out[start + 5] = rcode >> 4;
    out[start + 6] = 0;
    out[start + 7] = query.dnssecOk ? 0x80 : 0;
    out[start + 8] = 0;
    reply.at = start + OPT_OCTETS;
    reply.additionals++;
    if (query.cookieLength > 0) this.#writeCookie(query, reply, client, nowSeconds);
    if (query.wantsNsid && this.#identity !== null) {
      const at = option(reply, OPTION.NSID, this.#identity.length);
      for (let i = 0; i < this.#identity.length; i++) out[at + i] = this.#identity[i]!;
    }
    if (query.wantsKeepalive && isStream(client)) {
      const at = option(reply, OPTION.KEEPALIVE, 2);
      out[at] = KEEPALIVE >> 8;
      out[at + 1] = KEEPALIVE & 0xff;
    }
    // A SOA ends in its expiry and the minimum, four octets each.
    if (isSoa) {
      const at = option(reply, OPTION.EXPIRE, 4);
      for (let i = 0; i < 4; i++) out[at + i] = out[start - 8 + i]!;
    }
    if (ede !== EDE.NONE && reply.at + EDE_OCTETS <= reply.limit) {
      const at = option(reply, OPTION.EDE, 2);
      out[at] = ede >> 8;
      out[at + 1] = ede & 0xff;
    }
    const isEncrypted = client.transport === TRANSPORT.tls || client.transport === TRANSPORT.https;
    if (query.wantsPadding && isEncrypted) pad(reply);
    const length = reply.at - start - OPT_OCTETS;
    out[start + 9] = length >> 8;
    out[start + 10] = length & 0xff;
  }

  #writeCookie(query: Query, reply: Reply, client: Client, nowSeconds: number): void {
    const at = option(reply, OPTION.COOKIE, CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS);
    const { message, cookieAt } = query;
    for (let i = 0; i < CLIENT_COOKIE_OCTETS; i++) reply.out[at + i] = message[cookieAt + i]!;
    this.#cookies.make(
      nowSeconds,
      message,
      cookieAt,
      client.address,
      client.addressLength,
      reply.out,
      at + CLIENT_COOKIE_OCTETS,
    );
  }
}

/** Whether the message is the answer with a SOA and nothing else: an alias would bring another record. */
function isSoaAnswer(query: Query, reply: Reply): boolean {
  if (reply.answers !== 1 || reply.authorities + reply.additionals > 0) return false;
  const typeAt = reply.base + query.questionEnd + 2;
  return reply.out[typeAt] === 0 && reply.out[typeAt + 1] === TYPE.SOA;
}

/** Writes an option's head; returns where its data goes. */
function option(reply: Reply, code: number, length: number): number {
  const { out, at } = reply;
  out[at] = code >> 8;
  out[at + 1] = code & 0xff;
  out[at + 2] = length >> 8;
  out[at + 3] = length & 0xff;
  reply.at = at + OPTION_HEAD_OCTETS + length;
  return at + OPTION_HEAD_OCTETS;
}

function pad(reply: Reply): void {
  const length = reply.at - reply.base + OPTION_HEAD_OCTETS;
  const padding = (PADDING_BLOCK - (length % PADDING_BLOCK)) % PADDING_BLOCK;
  if (length + padding > 0xffff) return;
  const at = option(reply, OPTION.PADDING, padding);
  reply.out.fill(0, at, at + padding);
}
