/** The connections of a listener, no more than its limits grant. */
import type { Socket } from "node:net";
import { type Ranges, source } from "#kit/cidr.ts";
import { type ConnectionCounts, OwnConnections } from "./connection-counts.ts";
import type { HttpLimits } from "./limits.ts";

export interface ConnectionsOptions {
  readonly limits: HttpLimits;
  readonly unlimited: Ranges | null;
  readonly onTurnedAway: () => void;
  readonly connections?: ConnectionCounts;
}

export class Connections {
  readonly open = new Set<Socket>();
  readonly #options: ConnectionsOptions;
  readonly #counts: ConnectionCounts;
  #onEmpty: (() => void) | null = null;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#counts = options.connections ?? new OwnConnections();
  }

  /** False for one that is over a limit, which is closed. */
  admit(socket: Socket): boolean {
    const { limits, unlimited, onTurnedAway } = this.#options;
    const address = socket.remoteAddress ?? "";
    const from = source(address);
    const isProxy = unlimited?.has(address) === true;
    this.#counts.add(from); // Before it is looked at: another thread may take one at the same time.
    const isOver = !isProxy && this.#counts.from(from) > limits.connectionsPerSource;
    if (isOver || this.#counts.open > limits.connections) {
      this.#counts.remove(from);
      onTurnedAway();
      socket.destroy();
      return false;
    }
    this.#keep(socket, from);
    return true;
  }

  /** The connection goes on as another socket, and the one that was is not heard of again. */
  replace(socket: Socket, other: Socket): void {
    this.open.delete(socket);
    this.#keep(other, source(socket.remoteAddress ?? ""));
  }

  /** Resolves when none is left. */
  empty(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onEmpty = resolve));
  }

  #keep(socket: Socket, from: string): void {
    this.open.add(socket);
    socket.once("close", () => {
      this.open.delete(socket);
      this.#counts.remove(from);
      if (this.open.size === 0) this.#onEmpty?.();
    });
  }
}
