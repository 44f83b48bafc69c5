/**
 * The cache of scripts (`caches.default` and `caches.open`), in the protocol that workerd speaks to one: GET looks,
 * PUT brings a response as it would come on the wire, PURGE takes away. Each script has a cache to itself.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ResponseHead, ResponseParser } from "#http";
import { endToEnd } from "../forwarded.ts";
import { NO_DIRECTIVES } from "./cache-control.ts";
import { cacheKey } from "./cache-key.ts";
import { fillOf } from "./fill.ts";
import { judge } from "./freshness.ts";
import { fieldOf } from "./headers.ts";
import type { CachedResponse, CacheRequest, OriginResponse } from "./messages.ts";
import { sendCached } from "./send-cached.ts";
import { serveKept } from "./serve-kept.ts";
import type { Shelf } from "./shelf.ts";
import { headFor } from "./stored.ts";
import { NOT_CACHED } from "./uncached.ts";

export interface ScriptCacheOptions {
  readonly shelf: Shelf;
  /** Whose token it is; null for nobody's. */
  readonly grant: (token: string) => Script | null;
  /** The most of one body in memory, and at all. */
  readonly memoryObjectOctets: number;
  readonly objectOctets: number;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

interface Script {
  readonly accountId: string;
  readonly scriptName: string;
}

/** As of origins. */
const MAX_HEAD = 64 * 1024;
/** Of one script at a time: each may hold as much as one body in memory. What comes beyond is not kept. */
const MAX_PUTS = 8;

export class ScriptCache {
  readonly #options: ScriptCacheOptions;
  /** Under way, by token. */
  readonly #puts = new Map<string, number>();

  constructor(options: ScriptCacheOptions) {
    this.#options = options;
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = this.#requestOf(request);
    if (asked === null) response.writeHead(403).end();
    else if (request.method === "PUT") {
      await this.#put(asked, request).finally(() => request.resume());
      response.writeHead(204).end();
    } else if (request.method === "PURGE") {
      response.writeHead((await this.#remove(asked)) ? 200 : 404).end();
    } else await sendCached(response, await this.#match(asked), []);
  };

  /** What a script may see is under its own name, so that no other can have put it there. */
  #requestOf({ url = "", headers }: IncomingMessage): CacheRequest | null {
    const { authorization = "", "cf-cache-namespace": name, ...others } = headers;
    const script = this.#options.grant(authorization.replace(/^Bearer /, ""));
    const { protocol, host, pathname, search } = URL.parse(url) ?? NO_URL;
    if (script === null || host === "") return null;
    const space = name === undefined ? "default" : `named:${encodeURIComponent(String(name))}`;
    return {
      method: "GET",
      zoneId: `script:${script.accountId}:${script.scriptName}:${space}`,
      level: "aggressive",
      scheme: protocol === "https:" ? "https" : "http",
      hostname: host,
      target: pathname + search,
      headers: others,
    };
  }

  async #match(request: CacheRequest): Promise<CachedResponse> {
    const now = this.#options.now();
    const kept = await this.#find(request);
    if (kept === undefined || judge(kept.head.freshness, NO_DIRECTIVES, now) !== "fresh") {
      return NOT_CACHED;
    }
    return (await serveKept(this.#options.shelf, kept, request, "HIT", now)) ?? NOT_CACHED;
  }

  async #find(request: CacheRequest) {
    const { shelf } = this.#options;
    const key = cacheKey(request);
    return shelf.atHand(key, request.headers) ?? (await shelf.find(key, request.headers));
  }

  async #remove(request: CacheRequest): Promise<boolean> {
    const kept = await this.#find(request);
    this.#options.shelf.forget(cacheKey(request));
    return kept !== undefined;
  }

  async #put(request: CacheRequest, source: IncomingMessage): Promise<void> {
    const who = source.headers.authorization!;
    const count = this.#puts.get(who) ?? 0;
    if (count === MAX_PUTS) return;
    this.#puts.set(who, count + 1);
    try {
      await this.#keep(request, await responseIn(source));
    } finally {
      const left = this.#puts.get(who)! - 1;
      if (left === 0) this.#puts.delete(who);
      else this.#puts.set(who, left);
    }
  }

  async #keep(request: CacheRequest, response: OriginResponse): Promise<void> {
    const { shelf, now, objectOctets } = this.#options;
    const time = { requestedAt: now(), receivedAt: now() };
    const head = headFor(cacheKey(request), request, NO_DIRECTIVES, response, time, 0);
    const length = Number(fieldOf(response.headers, "content-length") ?? 0);
    if (head === null || length > objectOctets) return;
    const fill = fillOf(shelf, head, response, shelf.moment, this.#options);
    fill.want();
    fill.start();
    await fill.settled;
  }
}

const NO_URL = { protocol: "", host: "", pathname: "", search: "" };

/** The response that a request's body spells out. */
async function responseIn(source: IncomingMessage): Promise<OriginResponse> {
  const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const came: Buffer[] = [];
  let head = null as ResponseHead | null;
  let isWhole = false;
  const parser = new ResponseParser({
    interim: () => {},
    head: (one) => (head = one),
    data: (octets) => came.push(octets),
    end: () => (isWhole = true),
  });
  parser.expect("GET");
  parser.take(await firstOctets(pieces));
  const body = async function* () {
    for (;;) {
      yield* came.splice(0);
      if (isWhole) return;
      const { done, value } = await pieces.next();
      if (done === true) parser.close();
      else parser.take(value);
    }
  };
  const { status, headers } = head!;
  return { status, headers: endToEnd(headers), body: body(), abandon: () => {} };
}

const HEAD_END = "\r\n\r\n";
/** workerd says so of a body whose length it does not know, and then sends it as it is. */
const CODING = /\r\nTransfer-Encoding: chunked(?=\r\n)/i;

/** The head, and what came along with it. */
async function firstOctets(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let octets = Buffer.alloc(0);
  for (;;) {
    const end = octets.indexOf(HEAD_END);
    if (end !== -1) {
      const head = octets.toString("latin1", 0, end + HEAD_END.length).replace(CODING, "");
      return Buffer.concat([Buffer.from(head, "latin1"), octets.subarray(end + HEAD_END.length)]);
    }
    const { done, value } = await pieces.next();
    if (done === true || octets.length > MAX_HEAD) {
      throw new Error("A script's response has no head, or too long a one");
    }
    octets = Buffer.concat([octets, value]);
  }
}
