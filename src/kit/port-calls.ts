/** Calls between threads: what is asked for at one end of a channel is done at the other, and its result comes back. */
import type { MessagePort } from "node:worker_threads";

/** What one end does for the other. */
export type Deeds = { readonly [name: string]: (...args: never[]) => unknown };

type Message =
  | readonly [kind: "do", ticket: number | null, name: string, args: readonly unknown[]]
  | readonly [kind: "done", ticket: number, result: unknown]
  | readonly [kind: "failed", ticket: number, message: string];

export class PortCalls<There extends Deeds> implements Disposable {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastTicket = 0;
  #isClosed = false;

  /** With what this end does for the other. It keeps no thread running. */
  constructor(port: MessagePort, here: Deeds) {
    this.#port = port;
    port.on("message", (message: Message) => void this.#hear(message, here));
    port.once("close", () => this.#end());
    port.unref();
  }

  /** Rejects when the other end fails, and when it is no more. */
  call<Name extends keyof There & string>(
    name: Name,
    ...args: Parameters<There[Name]>
  ): Promise<Awaited<ReturnType<There[Name]>>> {
    const ticket = ++this.#lastTicket;
    const asked = Promise.withResolvers<unknown>();
    if (this.#isClosed) asked.reject(gone());
    else {
      this.#waiting.set(ticket, asked);
      this.#send(["do", ticket, name, args]);
    }
    return asked.promise as Promise<Awaited<ReturnType<There[Name]>>>;
  }

  /** The same, without waiting for what comes of it. */
  tell<Name extends keyof There & string>(name: Name, ...args: Parameters<There[Name]>): void {
    this.#send(["do", null, name, args]);
  }

  [Symbol.dispose](): void {
    this.#port.close();
    this.#end();
  }

  async #hear([kind, ticket, what, args]: Message, here: Deeds): Promise<void> {
    if (kind === "done") this.#settled(ticket).resolve(what);
    else if (kind === "failed") this.#settled(ticket).reject(new Error(what));
    else {
      try {
        const result = await here[what]!(...(args as never[]));
        if (ticket !== null) this.#send(["done", ticket, result]);
      } catch (error) {
        if (ticket === null) throw error;
        this.#send(["failed", ticket, (error as Error).message]);
      }
    }
  }

  #send(message: Message): void {
    this.#port.postMessage(message);
  }

  #settled(ticket: number): PromiseWithResolvers<unknown> {
    const asked = this.#waiting.get(ticket)!;
    this.#waiting.delete(ticket);
    return asked;
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }
}

function gone(): Error {
  return new Error("The other thread has ended");
}
