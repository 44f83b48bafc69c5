/** What the main thread and the threads of the edge say to each other. */
import type { MessagePort } from "node:worker_threads";
import type { HttpLimits } from "#http";
import type { HostPort } from "#kit/address.ts";
import type { LogFormat, LogLevel } from "#kit/log.ts";
import type { ScriptFaultKind } from "#scripts";
import type { NumberedPurge } from "../cache/purge-rules.ts";
import type { Fact, HostFacts, KeyPair, ZoneFacts } from "../facts/facts.ts";

/** What a thread may ask for by a key, and what it is told. */
export interface Questions {
  host: Fact<HostFacts>;
  /** By its name. */
  zone: Fact<ZoneFacts | null>;
  certificate: Fact<KeyPair | null>;
  /** The socket of a script's process, by the script's id. Each answer is a lease until it is released. */
  place: Fact<string>;
  /** The same when a connection to the process was lost: it may be gone. */
  "place after loss": Fact<string>;
  /** Why the process at a socket ended; null when it did not, or was meant to. */
  fault: ScriptFaultKind | null;
  /** What the store has lent, by its name and its owner; null when there is nothing. The thread says when it has done. */
  lent: { readonly length: number; readonly first: LentPiece } | null;
  /** More of it: the piece before is not needed any more. */
  "more of lent": LentPiece | null;
}

/** Octets as they are, or where they are in a file that the main thread has open. */
export type LentPiece =
  | Uint8Array
  | { readonly fd: number; readonly offset: number; readonly length: number };

export type Question = keyof Questions;

/** What a thread starts from. */
export interface EdgeThreadData extends EdgeSettings {
  /** Its number, from 0, of so many. */
  readonly thread: number;
  readonly threads: number;
  readonly generations: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly cacheCounts: SharedArrayBuffer;
  /** Open connections of all threads, by listener; the seed of where sources are counted. */
  readonly seed: number;
  readonly connections: { readonly http: SharedArrayBuffer; readonly https: SharedArrayBuffer };
  readonly ledger: MessagePort;
  /** The purge that its rules begin with. */
  readonly purgeFloor: number;
}

/** What all threads are told alike. */
export interface EdgeSettings {
  readonly limits: HttpLimits;
  /** Keys of TLS session tickets: a session of one thread goes on with another. */
  readonly ticketKeys: Uint8Array;
  /** The name whose certificate clients are shown that name none. */
  readonly fallbackName: string;
  readonly trustedProxies: readonly string[];
  /** Where buckets answer that have hostnames of their own. */
  readonly bucketSocket: string;
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
  readonly cache: {
    readonly memoryOctets: number;
    /** Null keeps nothing on disk. */
    readonly folder: string | null;
    readonly objectOctets: number;
  };
  readonly origins: {
    readonly resolvers: readonly string[];
    readonly allowed: readonly string[];
    readonly answerMs: number;
    readonly loopMark: string;
    /** Where the edge itself is. */
    readonly edgeAddresses: readonly string[];
  };
}

export interface EdgeAddresses {
  readonly http: HostPort | null;
  readonly https: HostPort | null;
}

export type ToEdgeThread =
  | { readonly kind: "listen"; readonly addresses: EdgeAddresses }
  | { readonly kind: "answer"; readonly ticket: number; readonly value: unknown }
  | { readonly kind: "refused"; readonly ticket: number; readonly why: Refused }
  | { readonly kind: "purges"; readonly ticket: number; readonly purges: readonly NumberedPurge[] }
  | { readonly kind: "forget"; readonly keys: readonly string[] }
  | { readonly kind: "ticket keys"; readonly ticketKeys: Uint8Array }
  | { readonly kind: "stop" };

export type FromEdgeThread =
  | { readonly kind: "listening"; readonly addresses: EdgeAddresses }
  | { readonly kind: "not listening"; readonly message: string }
  | {
      readonly kind: "ask";
      readonly ticket: number;
      readonly about: Question;
      readonly key: string;
    }
  | { readonly kind: "release"; readonly socketPath: string }
  | { readonly kind: "left"; readonly lent: string }
  | { readonly kind: "taken"; readonly ticket: number }
  | { readonly kind: "forgotten"; readonly keys: readonly string[] };

/** What is left of a fault between threads. */
export interface Refused {
  /** Null for what no script has done. */
  readonly kind: ScriptFaultKind | null;
  readonly message: string;
}
