/** Who may be connected: limits in all and per source, and the time that quiet connections get. RFC 7766 §6.2. */
import type { Socket } from "node:net";
import { type Ranges, ranges, source } from "#kit/cidr.ts";
import type { Connection } from "./connection.ts";
import { COUNT } from "./counters.ts";
import { idleMsAt, type StreamLimits } from "./limits.ts";

/** A connection that was used this recently keeps its place in the order, which saves work. */
const FRESH_MS = 50;

/** What a client holds from the first packet to the last. */
export class Place {
  readonly socket: Socket;
  /** What limits count it under; null where they do not. */
  readonly source: string | null;
  /** Null during a TLS handshake. */
  connection: Connection | null = null;
  usedAt: number;
  readonly #moveToEnd: (place: Place) => void;

  constructor(
    socket: Socket,
    source: string | null,
    now: number,
    moveToEnd: (place: Place) => void,
  ) {
    this.socket = socket;
    this.source = source;
    this.usedAt = now;
    this.#moveToEnd = moveToEnd;
  }

  /** Notes that a query came or an answer went. */
  touch(now: number): void {
    if (now - this.usedAt < FRESH_MS) return;
    this.usedAt = now;
    this.#moveToEnd(this);
  }
}

export class Places {
  readonly #limits: StreamLimits;
  readonly #counts: Float64Array;
  readonly #exempt: Ranges;
  /** The one that has been quiet the longest comes first. */
  readonly #places = new Set<Place>();
  readonly #perSource = new Map<string, number>();

  constructor(limits: StreamLimits, counts: Float64Array) {
    this.#limits = limits;
    this.#counts = counts;
    this.#exempt = ranges(limits.exempt);
  }

  /** A place for a new connection; null when its source has too many, and it was closed. */
  take(socket: Socket, now: number): Place | null {
    const address = socket.remoteAddress;
    if (address === undefined) return this.#refuse(socket); // It has gone already.
    const from = this.#exempt.has(address) ? null : source(address);
    const count = from === null ? 0 : (this.#perSource.get(from) ?? 0);
    if (count >= this.#limits.connectionsPerSource) return this.#refuse(socket);
    if (this.#places.size >= this.#limits.connections) this.#pushOut();
    if (from !== null) this.#perSource.set(from, count + 1);
    const place = new Place(socket, from, now, (used) => {
      if (this.#places.delete(used)) this.#places.add(used);
    });
    this.#places.add(place);
    this.#counts[COUNT.accepted]!++;
    this.#counts[COUNT.connections] = this.#places.size;
    socket.once("close", () => this.#free(place));
    return place;
  }

  /** Closes those whose time is up. */
  sweep(now: number): void {
    const idleMs = idleMsAt(this.#places.size, this.#limits);
    for (const place of this.#places) {
      const { connection, usedAt } = place;
      const overdue =
        connection === null
          ? now - usedAt > this.#limits.messageMs
          : connection.isOverdue(now, usedAt, idleMs);
      if (!overdue) continue;
      this.#counts[COUNT.timedOut]!++;
      this.#close(place);
    }
  }

  /** Ends every connection, each when what it has asked is answered. */
  finish(): void {
    for (const place of this.#places) {
      if (place.connection === null) this.#close(place);
      else place.connection.finish();
    }
  }

  destroy(): void {
    for (const place of this.#places) this.#close(place);
  }

  get size(): number {
    return this.#places.size;
  }

  #refuse(socket: Socket): null {
    this.#counts[COUNT.turnedAway]!++;
    socket.destroy();
    return null;
  }

  #pushOut(): void {
    const [longestQuiet] = this.#places;
    this.#counts[COUNT.pushedOut]!++;
    this.#close(longestQuiet!);
  }

  #close(place: Place): void {
    if (place.connection === null) place.socket.destroy();
    else place.connection.close();
    this.#free(place);
  }

  #free(place: Place): void {
    if (!this.#places.delete(place)) return;
    this.#counts[COUNT.connections] = this.#places.size;
    if (place.source === null) return;
    const left = this.#perSource.get(place.source)! - 1;
    if (left === 0) this.#perSource.delete(place.source);
    else this.#perSource.set(place.source, left);
  }
}
