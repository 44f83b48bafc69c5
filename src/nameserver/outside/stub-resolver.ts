/** A stub resolver: asks recursive resolvers, one after the other, until one can tell. RFC 1034 §5.3.1, RFC 5452. */
import { randomBytes } from "node:crypto";
import { WireFault } from "#dns";
import type { HostPort } from "#kit/address.ts";
import { EDE, RCODE } from "../codes.ts";
import { exchange } from "./exchange.ts";
import { makeQuery, type Query } from "./query.ts";
import { readReply, type Reading } from "./reply.ts";
import { LONGEST_RESOLUTION_MS, type Resolution, type Resolver } from "./resolver.ts";
import type { TargetType } from "./target-store.ts";

/**
 * How long each try is waited for before the next server is asked, too: two tries within the second that a
 * client waits, the last for what takes long. An earlier try's late reply still counts.
 */
const PATIENCE_MS = [400, 500, LONGEST_RESOLUTION_MS - 900] as const;

export interface StubResolverOptions {
  /** Whom to ask. */
  readonly servers: () => readonly HostPort[];
  readonly random?: (octets: number) => Uint8Array;
}

/** One resolution under way. */
interface Course {
  readonly name: string;
  readonly type: TargetType;
  readonly signal: AbortSignal;
  edns: boolean;
  /** Those that replied but could not tell. They are not asked again: it would only be load. RFC 9520 §3.1. */
  readonly clueless: Set<HostPort>;
}

type Found = Exclude<Resolution, { kind: "failure" }>;

export class StubResolver implements Resolver, Disposable {
  readonly #servers: () => readonly HostPort[];
  readonly #random: (octets: number) => Uint8Array;
  readonly #courses = new Set<AbortController>();
  /** Which of the servers is asked first: one that is silent goes behind the others. */
  #first = 0;

  constructor({ servers, random = randomBytes }: StubResolverOptions) {
    this.#servers = servers;
    this.#random = random;
  }

  async resolve(name: string, type: TargetType): Promise<Resolution> {
    const end = new AbortController();
    this.#courses.add(end);
    try {
      const course = { name, type, signal: end.signal, edns: true, clueless: new Set<HostPort>() };
      const found = await this.#pursue(course);
      if (found !== null) return found;
      const ede = course.clueless.size > 0 ? EDE.NO_REACHABLE_AUTHORITY : EDE.NETWORK_ERROR;
      return { kind: "failure", ede };
    } finally {
      end.abort(); // Closes what is still open.
      this.#courses.delete(end);
    }
  }

  /** Ends what is under way; it comes out as a failure. */
  [Symbol.dispose](): void {
    for (const course of this.#courses) course.abort();
  }

  async #pursue(course: Course): Promise<Found | null> {
    const first = Promise.withResolvers<Found>();
    for (const patienceMs of PATIENCE_MS) {
      const server = this.#nextServer(course);
      if (server === null || course.signal.aborted) break;
      const attempt = this.#ask(server, course);
      attempt.then((found) => found !== null && first.resolve(found), first.reject);
      const found = await within(patienceMs, [first.promise, attempt]);
      if (found !== null) return found;
      if (!course.clueless.has(server)) this.#moveOnFrom(server);
    }
    return null;
  }

  #nextServer({ clueless }: Course): HostPort | null {
    const servers = this.#servers();
    for (let i = 0; i < servers.length; i++) {
      const server = servers[(this.#first + i) % servers.length]!;
      if (!clueless.has(server)) return server;
    }
    return null;
  }

  /** Puts the server behind the others, unless another resolution has done so already. */
  #moveOnFrom(server: HostPort): void {
    const servers = this.#servers();
    const at = this.#first % servers.length;
    if (servers[at] === server) this.#first = (at + 1) % servers.length;
  }

  /** Asks one server; null when it cannot tell. */
  async #ask(server: HostPort, course: Course): Promise<Found | null> {
    const query = makeQuery(course.name, course.type, { edns: course.edns, random: this.#random });
    const reply = await exchange(server, query, course.signal);
    if (reply === null) return null;
    const reading = readLeniently(query, reply);
    if (reading.kind !== "useless") return reading;
    const isAfraidOfEdns = reading.rcode === RCODE.FORMERR || reading.rcode === RCODE.NOTIMP;
    if (isAfraidOfEdns && course.edns) course.edns = false;
    else course.clueless.add(server);
    return null;
  }
}

/** A reply that cannot be read says as little as one with an error. */
function readLeniently(query: Query, reply: Uint8Array): Reading {
  try {
    return readReply(query, reply);
  } catch (error) {
    if (error instanceof WireFault) return { kind: "useless", rcode: RCODE.SERVFAIL };
    throw error;
  }
}

/** What the first of these comes to; null when none does in time. */
async function within<T>(ms: number, promises: readonly Promise<T>[]): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, ms, null);
  try {
    return await Promise.race([...promises, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
