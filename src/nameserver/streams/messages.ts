/** What the main thread and the stream thread say to each other. */
import type { HostPort } from "#kit/address.ts";
import type { Client } from "../client.ts";
import type { Responder, ResponderSettings } from "../responder.ts";
import type { ReaderHandle } from "../snapshot/handle.ts";
import type { StreamLimits } from "./limits.ts";

/** In PEM; `cert` may hold the chain. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** What the thread starts from. */
export interface StreamThreadData {
  readonly address: HostPort | null;
  readonly tlsAddress: HostPort | null;
  readonly certificate: Certificate | null;
  readonly reader: ReaderHandle;
  readonly settings: ResponderSettings;
  readonly limits: StreamLimits;
  readonly counters: SharedArrayBuffer;
  /** A `ResponderModule` for tests; null is the real one. */
  readonly responderModule: string | null;
}

export interface ResponderModule {
  connect(
    reader: ReaderHandle,
    onFault: (cause: unknown) => void,
  ): (settings: ResponderSettings) => StreamResponder;
}

export type StreamResponder = Pick<Responder, "begin" | "end" | "respond">;

export type ToStreamThread =
  | { readonly kind: "answer"; readonly ticket: number; readonly reply: Uint8Array | null }
  | { readonly kind: "certificate"; readonly certificate: Certificate }
  | { readonly kind: "settings"; readonly settings: ResponderSettings }
  | { readonly kind: "stop" };

export type FromStreamThread =
  | {
      readonly kind: "listening";
      readonly address: HostPort | null;
      readonly tlsAddress: HostPort | null;
    }
  | { readonly kind: "not listening"; readonly isTls: boolean; readonly cause: ListenCause }
  | {
      readonly kind: "later";
      readonly ticket: number;
      readonly query: Uint8Array;
      readonly client: Client;
    }
  | { readonly kind: "fault"; readonly error: unknown };

/** What is left of a system error between threads. */
export interface ListenCause {
  readonly code: string | undefined;
  readonly message: string;
}
