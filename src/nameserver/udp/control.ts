/** What a query thread and its supervisor say to each other: shared words, and messages. */
import type { Client } from "../client.ts";
import type { Responder, ResponderSettings } from "../responder.ts";
import type { ReaderHandle } from "../snapshot/handle.ts";

/** Places in the `Int32Array` that a thread shares with its supervisor. */
export const WORD = {
  /** Changes at least once in `beatMs` while the thread is well. */
  beat: 0,
  /** How many messages the supervisor has sent; a busy thread looks here, not into its queue. */
  commands: 1,
  /** Queries that the thread has handed over and the main thread has not finished. */
  outstanding: 2,
} as const;

export const CONTROL_BYTES = 3 * Int32Array.BYTES_PER_ELEMENT;

/**
 * Queries of one thread that may wait for an outside name. Each holds a message and a promise on
 * the main thread, so this bounds what a flood of such queries takes from the API.
 */
export const MAX_OUTSTANDING = 256;

/** How long a stop waits for late answers; their own budget is a second. */
export const LATE_MS = 1_500;

export type QueryResponder = Pick<Responder, "begin" | "end" | "respond">;

/** What a thread takes its responder from: `responder.ts`, or another module in tests. */
export interface ResponderModule {
  readonly connect: (
    reader: ReaderHandle,
    onFault: (cause: unknown) => void,
  ) => (settings: ResponderSettings) => QueryResponder;
}

/** What every thread is started with. */
export interface ThreadData {
  readonly control: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly reader: ReaderHandle;
  readonly settings: ResponderSettings;
  /** The address of a `ResponderModule` for tests; null is the real one. */
  readonly responderModule: string | null;
  readonly beatMs: number;
}

export type ToThread =
  | { readonly kind: "stop" }
  | { readonly kind: "settings"; readonly settings: ResponderSettings }
  /** Only to threads that own their socket. */
  | { readonly kind: "reply"; readonly reply: Uint8Array; readonly peer: unknown };

export type FromThread =
  | { readonly kind: "ready" }
  /** A bug, to be logged. */
  | { readonly kind: "fault"; readonly cause: unknown }
  | {
      readonly kind: "deferred";
      readonly query: Uint8Array;
      readonly client: Client;
      /** Where the reply goes, in the endpoint's own form. */
      readonly peer: unknown;
    };

/** The module that a thread was told to answer with. */
export async function loadResponder(address: string | null): Promise<ResponderModule> {
  return address === null
    ? await import("../responder.ts")
    : ((await import(address)) as ResponderModule);
}

/** Whether one more query may be handed over; counts it when so. */
export function mayDefer(control: Int32Array): boolean {
  if (Atomics.add(control, WORD.outstanding, 1) < MAX_OUTSTANDING) return true;
  Atomics.sub(control, WORD.outstanding, 1);
  return false;
}

/** The client as it is now; the thread fills the same object for the next message. */
export function copyClient(client: Client): Client {
  return { ...client, address: client.address.slice() };
}
