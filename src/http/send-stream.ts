/** Octets on their way to a client, no faster than it takes them. */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as othersTurn } from "node:timers/promises";
import { ServerResponse as NodeResponse } from "#kit/node-http.ts";
import type { Outlet } from "#kit/outlet.ts";
import { isGone } from "./break-off.ts";
import { type FileMover, fileMover, isBare, MOST_MOVED_BYTES } from "./file-mover.ts";
import { asOwn } from "./loop/as-own.ts";
import { PlainResponse } from "./plain/response.ts";
import { transferBuffers } from "./transfer-buffers.ts";

/** An answer's body that is not held in memory: so many octets, of which some may be at hand. */
export interface StreamedBody {
  readonly length: number;
  readonly first: Uint8Array;
  /**
   * Read to its end, or left. It is offered an Outlet, as the argument of `next`; octets may lie in its room or
   * elsewhere, or have been moved past it, for which an empty piece stands.
   */
  readonly rest: AsyncIterable<Uint8Array>;
}

/**
 * Sends the body behind a head that was written. A client that goes away ends it in silence; octets that
 * cannot be read are thrown, and the caller must break the connection, for the answer is not whole.
 */
export async function sendStream(response: ServerResponse, body: StreamedBody): Promise<void> {
  await sendBehind(response, body);
  response.end();
}

/** The same on a connection that goes on. */
export async function sendBehind(
  response: ServerResponse | Socket,
  { length, first, rest }: StreamedBody,
): Promise<void> {
  const octets = rest[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, void, Outlet>;
  const way = new WayOut(response, length);
  let isOver = false;
  if (first.length > 0) way.send(first);
  try {
    while (!way.isGone) {
      const step = await octets.next(way); // While what came before them is sent.
      isOver = step.done === true;
      if (step.done === true) break;
      await way.take(step.value);
    }
  } finally {
    way.leave();
    if (!isOver) await octets.return?.();
  }
}

/** Where the octets of one body go, a piece at a time. */
class WayOut implements Outlet {
  readonly #response: ServerResponse | Socket;
  #sent: Promise<void> = Promise.resolve();
  /** Offered for the next piece, and not used yet. */
  #room: Buffer | null = null;
  /** How much of the file went past it instead. */
  #moved = 0;
  /** Where that goes, since the head was sent. */
  #socket: Socket | null = null;
  #hasFailed = false;
  /** Octets of the body that are still to go. */
  #left: number;
  /** Where in which file those stand that follow what was moved. */
  #behind = { fd: -1, at: 0 };
  /** The system has told that it takes no more for now. */
  #isFull = false;

  /** `length` is that of the body. */
  constructor(response: ServerResponse | Socket, length: number) {
    this.#response = response;
    this.#left = length;
  }

  readonly room = (): Buffer => (this.#room ??= transferBuffers.take());

  readonly move = (fd: number, at: number, most: number): number => {
    const response = this.#response;
    const mover = isBare(connectionOf(response)) ? fileMover() : null;
    const count = Math.min(most, MOST_MOVED_BYTES);
    if (mover === null || !this.#isAtHand(mover, fd, at, count)) return 0;
    this.#socket ??= beginBare(response);
    const moved = this.#socket && mover.move(this.#socket, fd, at, count);
    if (moved === null) return 0;
    asPlain(response)?.notePast(moved);
    this.#left -= moved;
    this.#behind = { fd, at: at + moved };
    if (moved === count) return (this.#moved = moved);
    // The connection is full.
    const own = asOwn(this.#socket);
    if (own !== null) {
      this.#isFull = true;
      this.#sent = new Promise((resolve) => own.whenRoom(resolve));
      return (this.#moved = moved);
    }
    // What is written to one of Node's in the usual way tells when it takes a good deal more.
    const little = mover.readLittle(fd, at + moved, most - moved);
    if (little !== null) this.send(little);
    return (this.#moved = moved + (little?.length ?? 0));
  };

  /** Resolves when the next piece may come. */
  async take(piece: Uint8Array): Promise<void> {
    await this.#sent;
    const hasWaited = this.#isFull;
    this.#isFull = false;
    if (this.#moved === 0) {
      const room = piece.buffer === this.#room?.buffer ? this.#room : null;
      if (room !== null) this.#room = null;
      this.send(piece, room);
    } else if (!hasWaited && this.#takesMuch()) await othersTurn();
    this.#moved = 0;
  }

  /** A quick client would take all of this thread: with this body, or with many that it has asked for at once. */
  #takesMuch(): boolean {
    const own = asOwn(this.#socket);
    if (own === null || this.#left > 0 || own.bytesMoved > MOST_MOVED_BYTES) {
      if (own !== null) own.bytesMoved = 0;
      return true;
    }
    return false;
  }

  /** As far as can be told by the first and the last octet. What was moved before tells of the first. */
  #isAtHand(mover: FileMover, fd: number, at: number, count: number): boolean {
    const follows = this.#behind.fd === fd && this.#behind.at === at;
    return (follows || mover.has(fd, at)) && mover.has(fd, at + count - 1);
  }

  /** Whether the client has gone. The connection says so a little later than a write that fails. */
  get isGone(): boolean {
    return this.#hasFailed || this.#response.destroyed;
  }

  /** `room` is where they lie, if that is to be used again. */
  send(octets: Uint8Array, room: Buffer | null = null): void {
    const response = this.#response;
    this.#left -= octets.length;
    // Resolves when the system has the octets, or the client has gone.
    this.#sent = new Promise((resolve) => {
      response.once("close", resolve);
      response.write(octets, (error) => {
        response.off("close", resolve);
        if (error) this.#hasFailed = true;
        // Of one who has gone, some may still be on their way: other octets must not take their place.
        else if (room !== null && !isGone(response)) transferBuffers.give(room);
        resolve();
      });
    });
  }

  leave(): void {
    if (this.#room !== null) transferBuffers.give(this.#room);
    this.#room = null;
  }
}

/** Null for an answer of HTTP/2, which shares its connection. */
function connectionOf(response: ServerResponse | Socket): Socket | null {
  if (response instanceof Socket) return response;
  return response instanceof NodeResponse || asPlain(response) !== null ? response.socket : null;
}

/** RFC 9110 §6.4.1. */
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/** Sends the head. Null where the body's octets may not follow it as they are. */
function beginBare(response: ServerResponse | Socket): Socket | null {
  if (response instanceof Socket) return response;
  const hasBody = response.req.method !== "HEAD" && !NO_BODY.has(response.statusCode);
  if (!response.headersSent || !hasBody) return null;
  response.flushHeaders();
  return response.chunkedEncoding ? null : response.socket;
}

/** Handlers know it as one of Node's. */
function asPlain(response: unknown): PlainResponse | null {
  return response instanceof PlainResponse ? response : null;
}

/** A body whose answer will not be sent. */
export async function leaveUnsent({ rest }: StreamedBody): Promise<void> {
  await rest[Symbol.asyncIterator]().return?.();
}
