/** The main thread as a thread of the edge asks it. */
import type { MessagePort } from "node:worker_threads";
import type { ScriptFaultKind } from "#scripts";
import type { FromEdgeThread, Question, Questions, Refused } from "./messages.ts";

/** A script has no place for a request. */
export class ScriptRefused extends Error {
  readonly kind: ScriptFaultKind;
  constructor(kind: ScriptFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export class MainThread {
  readonly #port: MessagePort;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #lastTicket = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  say(message: FromEdgeThread): void {
    this.#port.postMessage(message);
  }

  ask<Q extends Question>(about: Q, key: string): Promise<Questions[Q]> {
    const ticket = ++this.#lastTicket;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(ticket, asked);
    this.say({ kind: "ask", ticket, about, key });
    return asked.promise as Promise<Questions[Q]>;
  }

  answered(ticket: number, value: unknown): void {
    this.#take(ticket).resolve(value);
  }

  refused(ticket: number, { kind, message }: Refused): void {
    this.#take(ticket).reject(
      kind === null ? new Error(message) : new ScriptRefused(kind, message),
    );
  }

  #take(ticket: number): PromiseWithResolvers<unknown> {
    const asked = this.#asked.get(ticket)!;
    this.#asked.delete(ticket);
    return asked;
  }
}
