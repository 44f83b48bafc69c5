/** What the runtime is told, and what it gives: limits, places, events. */
import type { Upstream } from "#http";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { ScriptFault } from "../fault.ts";
import type { RunnableScript } from "../model.ts";
import type { RunFolder } from "./run-folder.ts";

export interface RuntimeLimits {
  /** Processes at once; beyond, the idle one that was used longest ago goes. */
  readonly processes: number;
  /** What the scripts of one process may hold; the process itself has some more. */
  readonly memoryMib: number;
  /** CPU time that a process may use without answering anything in between. */
  readonly cpuSeconds: number;
  /** CPU time that a process may use before it is ready. */
  readonly startSeconds: number;
  /** A process that nobody asked anything for so long is stopped. */
  readonly idleSeconds: number;
  /** How long a process that was replaced may finish what it does. */
  readonly drainSeconds: number;
}

export interface RuntimeOptions {
  /** For what processes are started from, and for sockets. */
  readonly folder: RunFolder;
  /** Path of the unix socket at which the store answers. */
  readonly storeSocket: string;
  /** Where their cache answers; without it they have one that never holds anything. */
  readonly cacheSocket?: string;
  /** Source of the module that puts buckets on `env`. */
  readonly bindingModule: () => Promise<string>;
  readonly load: (scriptId: string) => Promise<RunnableScript | null>;
  readonly loadByName: (accountId: string, name: string) => Promise<RunnableScript | null>;
  readonly limits: RuntimeLimits;
  /** Whoever asks scripts takes bodies from the store that they pass on as they are. */
  readonly takesLent?: boolean;
  /** Ranges that scripts may reach beside the public ones. */
  readonly outbound: readonly string[];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** A script's process, held until disposed. */
export interface ScriptPlace extends Disposable {
  /** No other process ever has it. */
  readonly socketPath: string;
  /** Whether it runs what should run, and not what ran before because that does not start. */
  readonly isCurrent: boolean;
  /** Carries requests to the process. */
  readonly upstream: Upstream;
  /** After a request has failed: why the process ended, if it did. */
  fault(): ScriptFault | null;
}

export interface ScheduledEvent {
  readonly cron: string;
  /** In ms since the epoch. */
  readonly scheduledTime: number;
}

export interface ScheduledResult {
  /** `ok`, `exception`, … */
  readonly outcome: string;
  /** The script has asked not to be called again for this time. */
  readonly noRetry: boolean;
}

export interface QueueEvent {
  readonly queue: string;
  readonly messages: readonly {
    readonly id: string;
    /** In ms since the epoch. */
    readonly timestamp: number;
    /** Which attempt it is, from 1. */
    readonly attempts: number;
    readonly body: object;
  }[];
}

/** As the runtime tells it. */
export interface QueueResult {
  /** `ok`, `exception`, … */
  readonly outcome: string;
  readonly ackAll: boolean;
  readonly retryBatch: { readonly retry: boolean };
  readonly explicitAcks: readonly string[];
  readonly retryMessages: readonly { readonly msgId: string }[];
}

/** What a store token opens. */
export interface StoreGrant {
  readonly accountId: string;
  readonly scriptId: string;
  readonly scriptName: string;
  readonly buckets: ReadonlySet<string>;
}

/** One event that a script handled, as the runtime traced it. */
export interface TailEvent {
  readonly scriptName: string;
  readonly entrypoint: string | null;
  /** `ok`, `exception`, `canceled`, … */
  readonly outcome: string;
  /** In ms since the epoch. */
  readonly eventTimestamp: number | null;
  /** A request (`request`, `response`), a cron trigger (`cron`, `scheduledTime`), …; null at start-up. */
  readonly event: Readonly<Record<string, unknown>> | null;
  readonly logs: readonly {
    readonly level: string;
    readonly timestamp: number;
    readonly message: readonly unknown[];
    /** Of those in the message that are errors; null for others. */
    readonly errorInfo?: readonly ({ readonly stack?: string } | null)[];
  }[];
  readonly exceptions: readonly {
    readonly name: string;
    readonly message: string;
    readonly timestamp: number;
    readonly stack?: string;
  }[];
  readonly truncated: boolean;
  /** In ms. */
  readonly cpuTime: number;
  readonly wallTime: number;
}
