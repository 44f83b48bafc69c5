/** The store's door for scripts: a unix socket. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { listenUnixSocket, requestIds, sendReply } from "#http";
import type { Log } from "#kit/log.ts";
import type { ObjectStore } from "#objects";
import type { Authorize } from "./access.ts";
import { type Framed, storeCalls } from "./http-door.ts";
import type { LentBodies } from "./lent-bodies.ts";
import type { WholeRequest } from "./request-frames.ts";
import { serveConnection } from "./store-connection.ts";

export interface StoreSocketOptions {
  /** Short: unix(7) allows 107 octets. */
  readonly path: string;
  readonly store: ObjectStore;
  readonly authorize: Authorize<Pick<IncomingMessage, "headers">>;
  /** Where octets are kept for whoever answers the scripts' clients; without it scripts read all themselves. */
  readonly lent?: LentBodies;
  readonly log: Log;
}

const PATH = "/store/v1/";
/** Above what a script's process can keep busy, below what would tie up the platform. */
const CALLS_OF_ONE = 512;

export function listenStoreSocket(options: StoreSocketOptions): Promise<AsyncDisposable> {
  const { path, log } = options;
  const perform = performer(options);
  const onError = (cause: unknown) => log.error("store call failed", { cause });
  return listenUnixSocket({
    path,
    handle: (request, response) => handle(request, response, perform),
    onError,
    first: (socket, handOver) =>
      serveConnection(socket, {
        answer: (call, send) => perform(call, call.bucketName, send),
        handOver: (read) => handOver(socket, read),
        onError,
      }),
  });
}

type Perform = (
  request: IncomingMessage | WholeRequest,
  bucketName: string,
  send: (framed: Framed) => Promise<void> | void,
) => Promise<void>;

/** Has calls answered, and what goes wrong with them. */
function performer({ log, ...options }: StoreSocketOptions): Perform {
  const door = storeCalls<IncomingMessage | WholeRequest>({ ...options, areOwn: true });
  const nextId = requestIds();
  const calls = new Map<string, number>();
  const answer = async (request: IncomingMessage | WholeRequest, bucket: string) => {
    try {
      return await door({ request, params: { bucket }, actor: null });
    } catch (cause) {
      const requestId = nextId();
      log.error("store call failed", { requestId, cause });
      return { ...refusal(500, ""), headers: { "X-Request-Id": requestId } };
    }
  };
  return async (request, bucketName, send) => {
    const who = request.headers.authorization ?? "";
    const count = calls.get(who) ?? 0;
    if (count >= CALLS_OF_ONE) return send(refusal(503, "Too many calls at once\n"));
    calls.set(who, count + 1);
    try {
      await send(await answer(request, bucketName));
    } finally {
      const left = calls.get(who)! - 1;
      if (left === 0) calls.delete(who);
      else calls.set(who, left);
    }
  };
}

function refusal(status: number, body: string): Framed {
  return { status, headers: {}, body, closes: true };
}

/** What Node's server has read: large calls, and whatever is none. */
async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  perform: Perform,
): Promise<void> {
  const send = (framed: Framed) =>
    sendReply(response, { ...framed, type: "application/octet-stream" }, "");
  const { method, url = "" } = request;
  const isCall = method === "POST" && /^\/store\/v1\/[\w.%-]+$/.test(url);
  if (isCall) await perform(request, decodeURIComponent(url.slice(PATH.length)), send);
  else await send(refusal(404, "There is nothing here\n"));
}
