/** Reads a request's body whole, up to a limit. */
import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
  readonly limit: number;
  constructor(limit: number) {
    super(`The request body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** The client went away, or ran into a clock, before its body was whole. */
export class BodyCutShort extends Error {
  override readonly name = "BodyCutShort";
}

export async function readBody(
  request: IncomingMessage,
  limit: number,
): Promise<Buffer<ArrayBuffer>> {
  if (request.destroyed) throw new BodyCutShort("The request broke off"); // Its events are over.
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) {
    request.resume();
    throw new BodyTooLarge(limit);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer<ArrayBuffer>[] = [];
    let size = 0;
    const stop = (error: Error) => {
      request.off("data", take).resume(); // What is left flows on and is dropped.
      chunks.length = 0;
      reject(error);
    };
    const take = (chunk: Buffer<ArrayBuffer>) => {
      size += chunk.length;
      if (size > limit) stop(new BodyTooLarge(limit));
      else chunks.push(chunk);
    };
    request.on("data", take);
    const breakOff = () => stop(new BodyCutShort("The request broke off"));
    request.once("end", () => {
      request.off("close", breakOff); // Every request closes in the end.
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.once("error", (cause) => stop(new BodyCutShort("The request broke off", { cause })));
    request.once("close", breakOff);
  });
}
