/** The store's door for scripts: a unix socket that only processes of this machine's user can reach. */
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { requestIds, sendReply } from "#http";
import type { Log } from "#kit/log.ts";
import type { ObjectStore } from "#objects";
import type { Authorize } from "./access.ts";
import { storeDoor } from "./http-door.ts";

export interface StoreSocketOptions {
  /** Short: unix(7) allows 107 octets. */
  readonly path: string;
  readonly store: ObjectStore;
  readonly authorize: Authorize;
  readonly log: Log;
}

const PATH = "/store/v1/";
/** A script that holds a body without reading it keeps its connection for so long. */
const IDLE_MS = 5 * 60_000;
/** Above what a script's process can keep busy, below what would tie up the platform. */
const CALLS_OF_ONE = 512;

export async function listenStoreSocket(options: StoreSocketOptions): Promise<AsyncDisposable> {
  const { path, log } = options;
  const handle = handler(options);
  // Bodies take their time: only silence ends a connection.
  const server = createServer(
    { requestTimeout: 0, keepAliveTimeout: IDLE_MS },
    (request, response) => {
      handle(request, response).catch((cause: unknown) => {
        log.error("store call failed", { cause });
        response.destroy();
      });
    },
  );
  server.timeout = IDLE_MS;
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new Error(`Cannot listen on ${path}: ${cause.message}`, { cause }));
    });
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections(); // Who uses it has stopped before.
      await closed;
    },
  };
}

function handler({ store, authorize, log }: StoreSocketOptions) {
  const door = storeDoor({ store, authorize });
  const nextId = requestIds();
  const calls = new Map<string, number>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = nextId();
    const who = request.headers.authorization ?? "";
    const count = calls.get(who) ?? 0;
    const refusal = refusalOf(request, count);
    if (refusal !== null) return sendReply(response, refusal, id);
    calls.set(who, count + 1);
    try {
      const bucket = decodeURIComponent(request.url!.slice(PATH.length));
      const reply = await door({ request, params: { bucket }, actor: null });
      await sendReply(response, reply, id);
    } catch (cause) {
      if (response.headersSent) throw cause;
      log.error("store call failed", { requestId: id, cause });
      await sendReply(response, { status: 500, type: "text/plain", body: "", closes: true }, id);
    } finally {
      const left = calls.get(who)! - 1;
      if (left === 0) calls.delete(who);
      else calls.set(who, left);
    }
  };
}

function refusalOf({ method, url }: IncomingMessage, calls: number) {
  const plain = { type: "text/plain", closes: true } as const;
  if (calls >= CALLS_OF_ONE) return { ...plain, status: 503, body: "Too many calls at once\n" };
  const isCall = method === "POST" && /^\/store\/v1\/[\w.%-]+$/.test(url ?? "");
  return isCall ? null : { ...plain, status: 404, body: "There is nothing here\n" };
}
