/**
 * Stores on several threads of a process, on the same database and blobs. One of them, on the main thread, does the
 * work in the background; what the others must tell it, and it must ask them, goes over a channel.
 */
import type { MessagePort } from "node:worker_threads";
import { type Deeds, PortCalls } from "#kit/port-calls.ts";
import type { Collecting, Holds, OtherHolds } from "./holds.ts";

/** What a change of objects may leave to do. */
export interface Background {
  readonly garbageMade: () => void;
  readonly lifecycleChanged: () => void;
  readonly eventsAdded: () => void;
  /** Resolves when those have heard of it who must. */
  readonly bucketRemoved: () => Promise<void>;
}

/** From the first of many changes to the message for all. Garbage waits for its collection anyway. */
const GARBAGE_MS = 100;
const EVENTS_MS = 5;

/** What the main thread asks of another. Collections have numbers, by which they end. */
type ThreadDeeds = {
  writtenAmong(ids: readonly string[]): readonly string[];
  collect(ids: readonly string[]): {
    readonly collection: number;
    readonly free: readonly string[];
  };
  collected(collection: number): void;
};

/** The background of a store that is not on the main thread. */
export function mainBackground(port: MessagePort, holds: Holds): Background & Disposable {
  const collections = new Map<number, Collecting>();
  let last = 0;
  const deeds: ThreadDeeds = {
    writtenAmong: (ids) => holds.writtenAmong(ids),
    collect(ids) {
      const collecting = holds.collecting(ids);
      collections.set(++last, collecting);
      return { collection: last, free: collecting.free };
    },
    collected(collection) {
      collections.get(collection)?.[Symbol.dispose]();
      collections.delete(collection);
    },
  };
  const main = new PortCalls<Background & Deeds>(port, deeds);
  return {
    garbageMade: gathered(GARBAGE_MS, () => main.tell("garbageMade")),
    lifecycleChanged: () => main.tell("lifecycleChanged"),
    eventsAdded: gathered(EVENTS_MS, () => main.tell("eventsAdded")),
    bucketRemoved: () => main.call("bucketRemoved"),
    [Symbol.dispose]: () => main[Symbol.dispose](),
  };
}

/** On the main thread: does for the thread behind the port what is the background's, and tells what that holds. */
export function serveThread(port: MessagePort, background: Background): OtherHolds {
  const thread = new PortCalls<ThreadDeeds>(port, background as Background & Deeds);
  return {
    writtenAmong: (ids) => thread.call("writtenAmong", ids).catch(() => []),
    async collecting(ids) {
      const granted = await thread.call("collect", ids).catch(() => null);
      return {
        free: granted?.free ?? ids,
        [Symbol.dispose]() {
          if (granted !== null) thread.tell("collected", granted.collection);
        },
      };
    },
  };
}

/** Does something once for all that ask for it within so many milliseconds, at their end. */
function gathered(ms: number, work: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      work();
    }, ms).unref();
  };
}
