/** The threads' responder in the contract: does what the first octet of a query says. */
import { threadId } from "node:worker_threads";
import { type Client, UDP_PAYLOAD_OCTETS } from "../client.ts";
import { DEFERRED } from "../responder.ts";
import type { QueryResponder, ResponderModule } from "./control.ts";

/** After the command and its number comes whatever the test likes. */
export const HEAD_OCTETS = 5;

const commands: Record<
  string,
  (length: number, client: Client, settings: unknown) => number | string
> = {
  echo: (length) => Math.min(length, UDP_PAYLOAD_OCTETS),
  size: (length) => String(length),
  who: (_length, { address, addressLength, port }) =>
    `${Buffer.from(address.subarray(0, addressLength)).toString("hex")} ${port}`,
  thread: () => String(threadId),
  settings: (_length, _client, settings) => JSON.stringify(settings),
  silence: () => 0,
  later: () => DEFERRED,
  throw: () => {
    throw new Error("asked to throw");
  },
  exit: () => process.exit(7),
  hang: () => {
    for (;;);
  },
};

export const commandNames: readonly string[] = Object.keys(commands);

export const connect: ResponderModule["connect"] = () => (settings) => new Echo(settings);

class Echo implements QueryResponder {
  readonly #settings: unknown;
  #isOpen = false;

  constructor(settings: unknown) {
    this.#settings = settings;
  }

  begin(): void {
    if (this.#isOpen) throw new Error("begin() twice");
    this.#isOpen = true;
  }

  end(): void {
    this.#isOpen = false;
  }

  respond(
    query: Uint8Array,
    start: number,
    length: number,
    client: Client,
    reply: Uint8Array,
    at: number,
  ): number {
    if (!this.#isOpen) throw new Error("respond() outside begin() and end()");
    const name = commandNames[query[start]!]!;
    const result = commands[name]!(length, client, this.#settings);
    const isEcho = typeof result === "number";
    reply.set(query.subarray(start, start + (isEcho ? Math.max(0, result) : HEAD_OCTETS)), at);
    if (isEcho) return result;
    const text = Buffer.from(result);
    reply.set(text, at + HEAD_OCTETS);
    return HEAD_OCTETS + text.length;
  }
}
