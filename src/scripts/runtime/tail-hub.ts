/** Hears what was traced in scripts, and tells those who listen. */
import type { IncomingMessage, Server } from "node:http";
import { readBody } from "#http";
import { createServer } from "#kit/node-http.ts";
import { EDGE_ENTRY } from "./edge-entry.ts";
import { StackMaps, type Traced } from "./stack-maps.ts";
import type { TailEvent } from "./types.ts";

type Hear = (event: TailEvent) => void;

export interface TailHubOptions {
  readonly socketPath: string;
  /** By their ids, the scripts whose events a token may tell; null for one that is not known. */
  readonly traced: (token: string) => ReadonlyMap<string, Traced> | null;
  readonly now: () => number;
}

/** Far more than workerd keeps of the events of one request. */
const MAX_BYTES = 16 * 1024 * 1024;

export class TailHub implements AsyncDisposable {
  readonly #listeners = new Map<string, Set<Hear>>();
  readonly #stacks = new StackMaps();
  readonly #options: TailHubOptions;
  readonly #server: Server;

  private constructor(options: TailHubOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#take(request)
        .catch(() => 400)
        .then((status) => response.writeHead(status).end())
        .catch(() => response.destroy());
    });
  }

  static async open(options: TailHubOptions): Promise<TailHub> {
    const hub = new TailHub(options);
    await new Promise<void>((resolve, reject) => {
      hub.#server.once("error", reject);
      hub.#server.listen(options.socketPath, resolve);
    });
    return hub;
  }

  isHeard(scriptId: string): boolean {
    return this.#listeners.has(scriptId);
  }

  /** Returns whether the script was not heard before. */
  add(scriptId: string, hear: Hear): boolean {
    const listeners = this.#listeners.get(scriptId);
    listeners?.add(hear);
    if (listeners === undefined) this.#listeners.set(scriptId, new Set([hear]));
    return listeners === undefined;
  }

  /** Returns whether nobody hears the script any more. */
  remove(scriptId: string, hear: Hear): boolean {
    const listeners = this.#listeners.get(scriptId);
    if (listeners?.delete(hear) !== true || listeners.size > 0) return false;
    return this.#listeners.delete(scriptId);
  }

  async #take(request: IncomingMessage): Promise<number> {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const scripts = this.#options.traced(token);
    if (scripts === null) return 401;
    const body = (await readBody(request, MAX_BYTES)).toString();
    const { scriptId, events } = JSON.parse(body) as { scriptId: string; events: TailEvent[] };
    const traced = scripts.get(scriptId);
    if (traced === undefined) return 403;
    const listeners = this.#listeners.get(scriptId);
    if (listeners === undefined) return 200;
    for (const event of events) {
      const told = this.#complete(event, traced);
      for (const hear of listeners) hear(told);
    }
    return 200;
  }

  #complete(event: TailEvent, traced: Traced): TailEvent {
    // workerd measures nothing; it tells of an event when all work for it is done.
    const wallTime = Math.max(0, this.#options.now() - (event.eventTimestamp ?? Infinity));
    // The edge's way to the default one is nobody's business.
    const entrypoint = event.entrypoint === EDGE_ENTRY ? null : (event.entrypoint ?? null);
    return this.#stacks.tell({ ...event, scriptName: traced.name, entrypoint, wallTime }, traced);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
