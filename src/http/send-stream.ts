/** Octets on their way to a client, no faster than it takes them. */
import type { ServerResponse } from "node:http";

/** An answer's body that is not held in memory: so many octets, of which some may be at hand. */
export interface StreamedBody {
  readonly length: number;
  readonly first: Uint8Array;
  /** Read to its end, or left. */
  readonly rest: AsyncIterable<Uint8Array>;
}

/**
 * Sends the body behind a head that was written. A client that goes away ends it in silence; octets that
 * cannot be read are thrown, and the caller must break the connection, for the answer is not whole.
 */
export async function sendStream(response: ServerResponse, body: StreamedBody): Promise<void> {
  const octets = body.rest[Symbol.asyncIterator]();
  let isOver = false;
  try {
    response.write(body.first);
    while (!response.destroyed) {
      const { done, value } = await octets.next();
      isOver = done === true;
      if (isOver) break;
      if (!response.write(value)) await taken(response);
    }
  } finally {
    if (!isOver) await octets.return?.();
  }
  response.end();
}

/** A body whose answer will not be sent. */
export async function leaveUnsent({ rest }: StreamedBody): Promise<void> {
  await rest[Symbol.asyncIterator]().return?.();
}

/** Resolves when the client has taken what was written, or has gone. */
function taken(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.once("drain", go).once("close", go);
  });
}
