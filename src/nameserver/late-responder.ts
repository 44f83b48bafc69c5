/** Answers on the main thread: queries that wait for a name outside, and those that come over HTTPS. */
import { decodeName } from "#dns";
import { STREAM_OCTETS } from "./client.ts";
import { RCODE } from "./codes.ts";
import type { OutsideNames } from "./outside/outside-names.ts";
import { type Client, DEFERRED, type Responder } from "./responder.ts";

/** Names outside that one answer may need one after the other; each has its own time limit. */
const MAX_WAITS = 3;

const HEADER_OCTETS = 12;

export class LateResponder {
  readonly #responder: Responder;
  readonly #outside: OutsideNames;
  readonly #now: () => number;
  readonly #reply = new Uint8Array(STREAM_OCTETS);

  constructor(responder: Responder, outside: OutsideNames, now: () => number) {
    this.#responder = responder;
    this.#outside = outside;
    this.#now = now;
  }

  /** The response, or null for none. */
  async answer(query: Uint8Array, client: Client): Promise<Uint8Array | null> {
    for (let waits = 0; waits <= MAX_WAITS; waits++) {
      this.#responder.begin(this.#now());
      const length = this.#responder.respond(query, 0, query.length, client, this.#reply, 0);
      const { name, type } = this.#responder.wanted;
      this.#responder.end();
      if (length !== DEFERRED) return length === 0 ? null : this.#reply.slice(0, length);
      await this.#outside.want(decodeName(name).name, type as 1 | 28);
    }
    return failureFor(query);
  }
}

function failureFor(query: Uint8Array): Uint8Array {
  const reply = query.slice(0, HEADER_OCTETS);
  reply[2] = (reply[2]! & 0x79) | 0x80; // Opcode and "recursion desired" as they were sent.
  reply[3] = RCODE.SERVFAIL;
  return reply.fill(0, 4);
}
