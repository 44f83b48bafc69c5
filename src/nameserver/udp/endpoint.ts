/** Where datagrams come in and late replies go out: batches on Linux, `node:dgram` elsewhere. */
import type { HostPort } from "#kit/address.ts";
import type { ToThread } from "./control.ts";

export interface Endpoint extends Disposable {
  readonly address: HostPort;
  /** How many threads can share it. */
  readonly threads: number;
  /** The file that the threads run. */
  readonly entry: URL;
  /** What a thread is told beside its `ThreadData`. */
  threadData(thread: number): object;
  /** Makes a thread look at its messages. */
  wake(thread: number): void;
  /**
   * Sends the reply to a query that a thread handed over; false when it cannot be sent. `post` is
   * the way to that thread.
   */
  reply(
    thread: number,
    peer: unknown,
    reply: Uint8Array,
    post: (message: ToThread) => boolean,
  ): boolean;
}

/** A file beside this one: TypeScript in a checkout, JavaScript in a package. */
export function moduleUrl(name: string): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./${name}.${extension}`, import.meta.url);
}
