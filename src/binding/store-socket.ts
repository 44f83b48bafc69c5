/** The store's door for scripts: a unix socket. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { listenUnixSocket, requestIds, sendReply } from "#http";
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
/** Above what a script's process can keep busy, below what would tie up the platform. */
const CALLS_OF_ONE = 512;

export function listenStoreSocket(options: StoreSocketOptions): Promise<AsyncDisposable> {
  const { path, log } = options;
  const onError = (cause: unknown) => log.error("store call failed", { cause });
  return listenUnixSocket({ path, handle: handler(options), onError });
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
