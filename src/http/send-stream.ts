/** Octets on their way to a client, no faster than it takes them. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isGone } from "./break-off.ts";
import { transferBuffers } from "./transfer-buffers.ts";

/** An answer's body that is not held in memory: so many octets, of which some may be at hand. */
export interface StreamedBody {
  readonly length: number;
  readonly first: Uint8Array;
  /** Read to its end, or left. It is offered room, as the argument of `next`; octets may lie there or elsewhere. */
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
  body: StreamedBody,
): Promise<void> {
  const octets = body.rest[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, void, Buffer>;
  let isOver = false;
  let sent = body.first.length === 0 ? Promise.resolve() : send(response, body.first, null);
  try {
    while (!response.destroyed) {
      const room = transferBuffers.take();
      const step = await octets.next(room); // While what came before them is sent.
      isOver = step.done === true;
      if (step.done === true) {
        transferBuffers.give(room);
        break;
      }
      await sent;
      const isInRoom = step.value.buffer === room.buffer;
      if (!isInRoom) transferBuffers.give(room);
      sent = send(response, step.value, isInRoom ? room : null);
    }
  } finally {
    if (!isOver) await octets.return?.();
  }
}

/** Resolves when the system has the octets, or the client has gone. */
function send(
  response: ServerResponse | Socket,
  octets: Uint8Array,
  room: Buffer | null,
): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.write(octets, (error) => {
      response.off("close", resolve);
      // Of one who has gone, some may still be on their way: other octets must not take their place.
      if (room !== null && !error && !isGone(response)) transferBuffers.give(room);
      resolve();
    });
  });
}

/** A body whose answer will not be sent. */
export async function leaveUnsent({ rest }: StreamedBody): Promise<void> {
  await rest[Symbol.asyncIterator]().return?.();
}
