/**
 * Tells which connections of a thread can be read or written, for less than Node's loop takes: the system is asked
 * once for all of them in each turn of that loop. When nothing has come for some turns, Node's loop waits for both.
 */
import {
  EPOLL_CLOEXEC,
  EPOLL_CTL_ADD,
  EPOLL_CTL_DEL,
  EPOLL_CTL_MOD,
  EPOLL_EVENT,
  type SocketCalls,
} from "#kit/libc.ts";
import { ownDescriptors } from "#kit/thread-descriptors.ts";
import type { Batch } from "./batch.ts";
import { Sleep } from "./sleep.ts";

/** Somebody who waits for a descriptor. */
export interface Watcher {
  readonly fd: number;
  /** May be called though nothing is ready: what a call of the system says counts. */
  ready(events: number): void;
}

/** What is asked for at once. Others are told with the next turn. */
const MOST_EVENTS = 256;
/**
 * Turns in which nothing comes before the thread sleeps: few, unless its last sleep was so short that waiting awake
 * would have cost less. A turn takes some 3 µs, a sleep 27.
 */
const QUIET_TURNS = { few: 2, many: 32 } as const;
const SHORT_SLEEP_MS = 0.1;
/** A thread that cannot be put to sleep looks for itself. */
const RETRY_MS = 10;

export class Readiness {
  readonly #calls: SocketCalls;
  readonly #epoll: number;
  readonly #watchers: (Watcher | undefined)[] = [];
  readonly #events = new DataView(new ArrayBuffer(MOST_EVENTS * EPOLL_EVENT.bytes));
  readonly #eventsAddress: number;
  /** What `epoll_ctl` is given. */
  readonly #asked = new DataView(new ArrayBuffer(EPOLL_EVENT.bytes));
  readonly #askedAddress: number;
  readonly #sleep: Sleep;
  readonly #batch: Batch;
  #watched = 0;
  #quietTurns = 0;
  #mostQuietTurns: number = QUIET_TURNS.few;
  #sleptAt = 0;
  /** A turn is to come; else it sleeps, or watches nothing. */
  #isAwake = false;
  #willFlush = false;

  /** Throws where this system, or this Node, is another than is known. */
  constructor(calls: SocketCalls, batch: Batch) {
    this.#calls = calls;
    this.#epoll = calls.epollCreate(EPOLL_CLOEXEC);
    if (this.#epoll < 0) throw new Error(`epoll_create1 failed: errno ${calls.errno()}`);
    ownDescriptors(this.#epoll);
    this.#eventsAddress = calls.addressOf(this.#events.buffer);
    this.#askedAddress = calls.addressOf(this.#asked.buffer);
    this.#sleep = new Sleep(calls, this.#epoll, () => this.#wake());
    this.#batch = batch;
  }

  /** False if the system refuses. */
  watch(watcher: Watcher, events: number): boolean {
    if (!this.#control(EPOLL_CTL_ADD, watcher.fd, events)) return false;
    this.#watchers[watcher.fd] = watcher;
    if (this.#watched++ === 0 && !this.#isAwake) {
      this.#isAwake = true;
      setImmediate(this.#turn);
    }
    return true;
  }

  change({ fd }: Watcher, events: number): void {
    this.#control(EPOLL_CTL_MOD, fd, events);
  }

  /** Before its descriptor is closed, or given away. */
  forget(watcher: Watcher): void {
    const { fd } = watcher;
    if (this.#watchers[fd] !== watcher) return; // The number may be another's by now.
    this.#control(EPOLL_CTL_DEL, fd, 0);
    this.#watchers[fd] = undefined;
    // Else a process that has nothing more to do would not end.
    if (--this.#watched === 0) this.#sleep.end();
  }

  /** Something was written that is to be sent with what else is. */
  flushSoon(): void {
    if (this.#willFlush || this.#isAwake) return; // The next turn does.
    this.#willFlush = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#willFlush = false;
    this.#batch.flush();
  };

  #control(operation: number, fd: number, events: number): boolean {
    this.#asked.setUint32(0, events, true);
    this.#asked.setInt32(EPOLL_EVENT.dataAt, fd, true);
    return this.#calls.epollControl(this.#epoll, operation, fd, this.#askedAddress) === 0;
  }

  #wake(): void {
    const isShort = performance.now() - this.#sleptAt < SHORT_SLEEP_MS;
    this.#mostQuietTurns = isShort ? QUIET_TURNS.many : QUIET_TURNS.few;
    this.#isAwake = true;
    this.#quietTurns = 0;
    this.#turn();
  }

  readonly #turn = (): void => {
    this.#flush(); // What was written since the last turn.
    const count = this.#calls.epollWait(this.#epoll, this.#eventsAddress, MOST_EVENTS, 0);
    this.#quietTurns = count > 0 ? 0 : this.#quietTurns + 1;
    if (count > 0) this.#batch.isAlone = count === 1;
    this.#arrangeNext(); // First: what is thrown here must not be the end of it.
    for (let i = 0; i < count; i++) {
      const at = i * EPOLL_EVENT.bytes;
      const fd = this.#events.getInt32(at + EPOLL_EVENT.dataAt, true);
      this.#watchers[fd]?.ready(this.#events.getUint32(at, true));
    }
    if (count > 0) this.#flush();
  };

  #arrangeNext(): void {
    if (this.#quietTurns < this.#mostQuietTurns) setImmediate(this.#turn);
    else if (this.#watched === 0 || this.#sleep.begin()) {
      this.#isAwake = false;
      this.#sleptAt = performance.now();
    } else setTimeout(this.#turn, RETRY_MS); // Out of descriptors.
  }
}
