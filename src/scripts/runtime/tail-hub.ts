/** Hears what was traced in scripts, and tells those who listen. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { readBody } from "#http";
import type { TailEvent } from "./types.ts";

type Hear = (event: TailEvent) => void;

export interface TailHubOptions {
  readonly socketPath: string;
  /** Ids of the scripts whose events a token may tell; null for one that is not known. */
  readonly tailed: (token: string) => ReadonlySet<string> | null;
  readonly nameOf: (scriptId: string) => string;
}

/** Far more than workerd keeps of the events of one request. */
const MAX_BYTES = 16 * 1024 * 1024;

export class TailHub implements AsyncDisposable {
  readonly #listeners = new Map<string, Set<Hear>>();
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
    const tailed = this.#options.tailed(token);
    if (tailed === null) return 401;
    const body = (await readBody(request, MAX_BYTES)).toString();
    const { scriptId, events } = JSON.parse(body) as { scriptId: string; events: TailEvent[] };
    if (!tailed.has(scriptId)) return 403;
    const scriptName = this.#options.nameOf(scriptId);
    for (const event of events) {
      const told = { ...event, scriptName, entrypoint: event.entrypoint ?? null };
      for (const hear of this.#listeners.get(scriptId) ?? []) hear(told);
    }
    return 200;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
