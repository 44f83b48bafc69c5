/** The listener of `selvedge dev`: hands every request to the script, whatever host it names. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { passOn, requestHeaders, upgradeOn } from "#edge";
import { requestIds } from "#http";
import { type HostPort, printHostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";
import type { ScriptPlace } from "#scripts";
import { CliFault } from "../../fault.ts";

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  /** Whether another port is as good when this one is taken. */
  readonly mayMove: boolean;
  /** Waits for the first version; throws what the client should read when there is none. */
  readonly open: () => Promise<ScriptPlace>;
  readonly scheduled: (cron: string) => Promise<{ readonly outcome: string }>;
  readonly hear: (request: FrontRequest) => void;
}

export interface FrontRequest {
  readonly method: string;
  readonly path: string;
  /** Null: the client left before there was one. */
  readonly status: number | null;
  readonly ms: number;
}

export interface Front extends AsyncDisposable {
  readonly url: string;
}

/** Where wrangler has it, too. */
const SCHEDULED = "/cdn-cgi/handler/scheduled";
/** What is under way when the listener closes may take so long. */
const DRAIN_MS = 1_000;

export async function openFront(options: FrontOptions): Promise<Front> {
  const nextId = requestIds();
  const server = createServer((request, response) => {
    const began = performance.now();
    const tell = (status: number | null) => options.hear(heard(request, status, began));
    serve(options, request, response, nextId()).then(tell, (error: Error) =>
      tell(refuse(response, error)),
    );
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const began = performance.now();
    socket.on("error", () => socket.destroy());
    upgrade(options, request, socket, head, nextId()).then(
      (status) => options.hear(heard(request, status, began)),
      () => socket.destroy(),
    );
  });
  const { address, port } = await listen(server, options);
  return {
    url: `http://${printHostPort({ host: shownHost(address), port })}`,
    [Symbol.asyncDispose]: () => close(server),
  };
}

function heard(request: IncomingMessage, status: number | null, began: number): FrontRequest {
  const ms = Math.round((performance.now() - began) * 10) / 10;
  return { method: request.method!, path: request.url!, status, ms };
}

async function serve(
  options: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): Promise<number | null> {
  const { pathname, searchParams } = new URL(request.url!, "http://localhost");
  if (pathname === SCHEDULED) {
    const { outcome } = await options.scheduled(searchParams.get("cron") ?? "");
    const status = outcome === "ok" ? 200 : 500;
    response.writeHead(status, { "Content-Type": "text/plain" }).end(`${outcome}\n`);
    return status;
  }
  using place = await options.open();
  const passage = await passOn(request, response, onwardOf(request, place, requestId, null));
  if (passage.kind === "left") return null;
  if (passage.kind === "answered") return passage.status;
  throw place.fault() ?? new Error(`The script broke off: ${passage.cause.message}`);
}

async function upgrade(
  options: FrontOptions,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  requestId: string,
): Promise<number | null> {
  using place = await options.open();
  const passage = await upgradeOn(
    request,
    socket,
    head,
    onwardOf(request, place, requestId, request.headers.upgrade ?? null),
  );
  if (passage.kind === "failed") socket.destroy();
  return passage.kind === "answered" ? passage.status : null;
}

function onwardOf(
  request: IncomingMessage,
  place: ScriptPlace,
  requestId: string,
  upgrade: string | null,
) {
  const peer = request.socket.remoteAddress ?? "";
  const host = request.headers.host ?? "localhost";
  const client = {
    address: peer,
    peer,
    forwardedFor: null,
    scheme: "http",
    host,
    requestId,
  } as const;
  const headers = requestHeaders(request.rawHeaders, client, upgrade);
  return { upstream: place.upstream, target: request.url!, headers, requestId };
}

/** There is no version that could answer, or it broke: the developer reads why. */
function refuse(response: ServerResponse, error: Error): number {
  const status = 500;
  if (response.headersSent) response.destroy();
  else
    response
      .writeHead(status, { "Content-Type": "text/plain; charset=utf-8" })
      .end(`${error.message}\n`);
  return status;
}

async function listen(server: Server, { host, port, mayMove }: FrontOptions): Promise<AddressInfo> {
  const tried = (at: HostPort) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen({ ...at }, resolve);
    }).finally(() => server.removeAllListeners("error"));
  await tried({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (mayMove && error.code === "EADDRINUSE") return tried({ host, port: 0 });
    throw new CliFault("failed", listenFault({ host, port }, "--port", error).message, {
      cause: error,
    });
  });
  return server.address() as AddressInfo;
}

/** An address that means all of them is none to open in a browser. */
function shownHost(address: string): string {
  return address === "0.0.0.0" || address === "::" ? "localhost" : address;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(late);
}
