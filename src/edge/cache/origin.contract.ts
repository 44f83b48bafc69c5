/** An origin for tests of the cache: it answers what the test says, and remembers how it was asked. */
import assert from "node:assert/strict";
import { CacheCounts } from "./cache-counts.ts";
import { Cache, type CacheOptions } from "./cache.ts";
import type { CachedResponse, CacheRequest, FetchOrigin, OriginResponse } from "./messages.ts";
import { PurgeRules } from "./purge-rules.ts";

export const NOW = Date.UTC(2026, 10, 15, 12);

export interface Told {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly onAbandon?: () => void;
}

export type Script = (conditions: readonly string[] | null) => Told | Promise<Told>;

/** A cache with a clock of the test's own, and the origin behind it. */
export class World {
  now = NOW;
  /** The conditions of each fetch; null for one that went as the client sent it. */
  readonly fetches: (readonly string[] | null)[] = [];
  readonly errors: Error[] = [];
  readonly forgotten: string[] = [];
  readonly purges = new PurgeRules();
  readonly cache: Cache;
  script: Script;

  constructor(script: Script | Told = {}, options: Partial<CacheOptions> = {}) {
    this.script = typeof script === "function" ? script : () => script;
    this.cache = new Cache({
      counts: new CacheCounts(),
      memoryOctets: 32 * 1024 ** 2,
      disk: null,
      purges: this.purges,
      objectOctets: 64 * 1024 ** 2,
      waitMs: 5000,
      now: () => this.now,
      onError: (error) => this.errors.push(error),
      onForgotten: (keys) => this.forgotten.push(...keys),
      ...options,
    });
  }

  readonly fetchOrigin: FetchOrigin = async (conditions) => {
    this.fetches.push(conditions);
    return respond(await this.script(conditions));
  };

  /** The raw answer, whose body the test reads. */
  async open(
    target = "/",
    headers: CacheRequest["headers"] = {},
    more: Partial<CacheRequest> = {},
  ): Promise<CachedResponse> {
    const request: CacheRequest = {
      method: "GET",
      zoneId: "z",
      level: "aggressive",
      scheme: "https",
      hostname: "www.example.com",
      target,
      headers,
      ...more,
    };
    return this.cache.handle(request, this.fetchOrigin);
  }

  /** What a client sees: status, what the cache did, the headers by lower-case name, the body. */
  async get(...asked: Parameters<World["open"]>): Promise<Seen> {
    return seen(await this.open(...asked));
  }

  pass(seconds: number): void {
    this.now += seconds * 1000;
  }
}

export interface Seen {
  readonly status: number;
  readonly cache: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function seen(answer: CachedResponse): Promise<Seen> {
  const names = answer.headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  assert.equal(new Set(names).size, names.length, `a field stands twice: ${names.join()}`);
  const headers = Object.fromEntries(names.map((name, i) => [name, answer.headers[2 * i + 1]!]));
  assert.equal(headers["cf-cache-status"], answer.cacheStatus);
  const body = (await octetsOf(answer.body)).toString("latin1");
  return { status: answer.status, cache: answer.cacheStatus, headers, body };
}

export async function octetsOf(body: CachedResponse["body"]): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function respond({ status = 200, headers = {}, body = "", onAbandon }: Told): OriginResponse {
  const octets = typeof body === "string" ? Buffer.from(body) : body;
  const dated = { Date: new Date(NOW).toUTCString(), ...headers };
  return {
    status,
    headers: Object.entries(dated).flat(),
    body: octets instanceof Uint8Array ? once(octets) : octets,
    abandon: onAbandon ?? (() => {}),
  };
}

async function* once(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  if (octets.length > 0) yield octets;
}

/** Lets what is under way go on until it waits for something else. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

/** A body that comes when the test says so. */
export function slowBody() {
  let next = Promise.withResolvers<Uint8Array | null>();
  const queue: Promise<Uint8Array | null>[] = [next.promise];
  const push = (value: Uint8Array | null) => {
    const { resolve } = next;
    next = Promise.withResolvers();
    queue.push(next.promise);
    resolve(value);
  };
  return {
    send: (text: string | Uint8Array) => push(Buffer.from(text as string)),
    end: () => push(null),
    cut: () => {
      next.promise.catch(() => {}); // Nobody may be left to hear it.
      next.reject(new Error("cut short"));
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const chunk = await queue.shift()!;
        if (chunk === null) return;
        yield chunk;
      }
    },
  };
}
