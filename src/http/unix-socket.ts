/** An HTTP listener for processes of this machine's user: a unix socket that nobody else can reach. */
import { chmod, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createServer } from "#kit/node-http.ts";
import { type First, takeFirst } from "./hand-over.ts";

export interface UnixSocketOptions {
  /** Short: unix(7) allows 107 octets. */
  readonly path: string;
  /** What it throws goes to `onError`, and breaks the answer off. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly onError: (cause: unknown) => void;
  readonly first?: First;
}

/** Who holds a body without reading it keeps its connection for so long. */
const IDLE_MS = 5 * 60_000;

export async function listenUnixSocket(options: UnixSocketOptions): Promise<AsyncDisposable> {
  const { path, handle, onError, first } = options;
  // Bodies take their time: only silence ends a connection.
  const server = createServer(
    // workerd leaves out the host where it names a whole URL.
    { requestTimeout: 0, keepAliveTimeout: IDLE_MS, requireHostHeader: false },
    (request, response) => {
      handle(request, response).catch((cause: unknown) => {
        onError(cause);
        response.destroy();
      });
    },
  );
  server.timeout = IDLE_MS;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    if (first !== undefined) socket.setTimeout(IDLE_MS, () => socket.destroy());
  });
  if (first !== undefined) takeFirst(server, first);
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
      for (const socket of sockets) socket.destroy(); // Who uses it has stopped before.
      await closed;
    },
  };
}
