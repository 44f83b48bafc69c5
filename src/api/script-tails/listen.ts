/** The WebSocket of a tail: a message for each event of the script, in the original's form. RFC 6455. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Log } from "#kit/log.ts";
import type { ScriptRuntime, TailEvent } from "#scripts";
import { shows } from "./filters.ts";
import type { TailSession, TailSessions } from "./sessions.ts";

export const TAIL_PATH = "/tails/v1/";

const PROTOCOL = "trace-v1";
/** Clients say little: whether they debug. */
const MAX_MESSAGE = 16 * 1024;
/** What a listener has not taken yet. Beyond it events are dropped, until half of it is taken. */
const MAX_BUFFERED = 1024 ** 2;
/** A listener that answers no ping for so long is gone, and its script need not be traced for it. */
const PING_MS = 30_000;

const NORMAL = 1000;
const GOING_WRONG = 1011;

export interface TailDoorOptions {
  readonly sessions: TailSessions;
  readonly runtime: Pick<ScriptRuntime, "tail">;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
}

/** Takes requests to speak WebSocket. */
export function tailDoor(options: TailDoorOptions) {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false, // Memory for each listener, to save traffic of logs.
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const path = request.url ?? "";
    const session = path.startsWith(TAIL_PATH)
      ? options.sessions.find(path.slice(TAIL_PATH.length))
      : null;
    if (session === null) {
      socket.once("finish", () => socket.destroy());
      socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    // Called at once, unless the handshake fails: then the session waits for another.
    server.handleUpgrade(request, socket, head, (socket) => {
      session.close = () => socket.close(NORMAL);
      takeUnmasked(socket);
      void listen(socket, session, options);
    });
  };
}

/** wrangler does not mask what it says, though RFC 6455 §5.1 wants it to. Nobody is harmed by listening to it. */
function takeUnmasked(socket: WebSocket): void {
  const { _receiver: receiver } = socket as unknown as { _receiver: Record<string, unknown> };
  // It holds frames to a side by what side it believes to be: here, that of each frame.
  Object.defineProperty(receiver, "_isServer", { get: () => receiver["_masked"] });
}

async function listen(
  socket: WebSocket,
  session: TailSession,
  { sessions, runtime, now, random, log }: TailDoorOptions,
): Promise<void> {
  const listener = new TailListener(socket, now);
  let isAlive = true;
  socket.on("pong", () => (isAlive = true));
  socket.on("error", () => {}); // The close that follows says enough.
  const pings = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_MS).unref();
  const expiry = setTimeout(
    () => socket.close(NORMAL, "expired"),
    session.expiresAt - now(),
  ).unref();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  try {
    const tail = await runtime.tail(session.scriptId, (event) => {
      if (shows(event, session.filters, session.client, random)) listener.hear(event);
    });
    await closed;
    await tail[Symbol.asyncDispose]();
  } catch (cause) {
    log.warn("tail failed", { script_id: session.scriptId, cause });
    socket.close(GOING_WRONG);
  } finally {
    clearInterval(pings);
    clearTimeout(expiry);
    sessions.remove(session.scriptId, session.id);
  }
}

/** Sends events to one who may not take them as fast as they come. */
class TailListener {
  readonly #socket: WebSocket;
  readonly #now: () => number;
  #dropped = 0;

  constructor(socket: WebSocket, now: () => number) {
    this.#socket = socket;
    this.#now = now;
  }

  hear(event: TailEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const buffered = this.#socket.bufferedAmount;
    if (this.#dropped > 0 && buffered < MAX_BUFFERED / 2) {
      this.#tell("overload-stop", `Tail has left out ${this.#dropped} events and shows all again.`);
      this.#dropped = 0;
    }
    if (this.#dropped > 0 || buffered > MAX_BUFFERED) {
      this.#dropped++;
      if (this.#dropped === 1) {
        this.#tell("overload", "Tail is left behind: events are left out until it catches up.");
      }
      return;
    }
    this.#socket.send(JSON.stringify(event));
  }

  /** In the form of an event without a script, as the original has it. */
  #tell(type: "overload" | "overload-stop", message: string): void {
    const nothing = { outcome: "ok", scriptName: null, exceptions: [], logs: [] };
    const event = { ...nothing, eventTimestamp: this.#now(), event: { type, message } };
    this.#socket.send(JSON.stringify(event));
  }
}
