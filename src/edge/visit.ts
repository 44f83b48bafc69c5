/** A request at the edge's door, from its head to its line in the log: how its answer gets to the client, and what is noted of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { breakOff, type Reply, sendReply } from "#http";
import type { Ways } from "./cached-origin.ts";
import type { CachedResponse } from "./cache/messages.ts";
import { sendCached, type Sent } from "./cache/send-cached.ts";
import { hintsTo, type OnInterim } from "./early-hints.ts";
import type { Observe, Outcome } from "./observe.ts";
import type { Onward, Passage } from "./onward.ts";
import { passOn } from "./pass-on.ts";
import { type Refusal, refusalReply, refusals } from "./refusals.ts";
import { upgradeOn } from "./upgrade-on.ts";

export interface Visit extends Ways {
  /** The protocol that it would rather speak. */
  readonly upgrade: string | null;
  /** What came of it. Called once, whatever happens. */
  end(outcome: Outcome, requestId: string): void;
}

export class RequestVisit implements Visit {
  readonly upgrade = null;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #observe: Observe;
  readonly #began = performance.now();

  constructor(request: IncomingMessage, response: ServerResponse, observe: Observe) {
    this.#request = request;
    this.#response = response;
    this.#observe = observe;
  }

  pass(onward: Onward): Promise<Passage> {
    return passOn(this.#request, this.#response, onward);
  }

  send(answer: CachedResponse, also: readonly string[]): Sent | Promise<Sent> {
    return sendCached(this.#response, answer, also);
  }

  hear(): OnInterim {
    return hintsTo(this.#response);
  }

  end(outcome: Outcome, requestId: string): void {
    const refusal = refusalOf(outcome);
    if (refusal !== null) this.#refuse(refusal, requestId);
    this.#observe(this.#request, outcome, requestId, performance.now() - this.#began);
  }

  #refuse(refusal: Refusal, requestId: string): void {
    const response = this.#response;
    if (response.headersSent) breakOff(response);
    else {
      const reply = refusalReply(refusal, this.#request.headers.accept, requestId);
      void sendReply(response, reply, requestId);
    }
  }
}

/** One that wants to speak another protocol on its connection. */
export class UpgradeVisit implements Visit {
  readonly upgrade: string | null;
  readonly send = null;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #observe: Observe;
  readonly #began = performance.now();

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, observe: Observe) {
    this.upgrade = request.headers.upgrade ?? null;
    this.#request = request;
    this.#socket = socket;
    this.#head = head;
    this.#observe = observe;
    socket.on("error", () => socket.destroy());
  }

  pass(onward: Onward): Promise<Passage> {
    return upgradeOn(this.#request, this.#socket, this.#head, onward);
  }

  hear(): OnInterim {
    return () => {};
  }

  end(outcome: Outcome, requestId: string): void {
    const refusal = refusalOf(outcome);
    if (refusal !== null) {
      const reply = refusalReply(refusal, this.#request.headers.accept, requestId);
      this.#socket.end(asText(reply, requestId));
    }
    this.#observe(this.#request, outcome, requestId, performance.now() - this.#began);
  }
}

/** What the client must be told by the edge itself; null when it has its answer, or has gone. */
function refusalOf(outcome: Outcome): Refusal | null {
  if (!("kind" in outcome)) return outcome;
  return outcome.kind === "failed" ? refusals.brokenScript() : null;
}

/** On the bare socket of a request that wanted to upgrade. */
function asText({ status, type, body, headers }: Reply, requestId: string): string {
  const all = {
    "Content-Type": type,
    "Content-Length": String(Buffer.byteLength(body as string)),
    "X-Request-Id": requestId,
    ...headers,
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body as string}`;
}
