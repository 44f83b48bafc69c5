/** A request's body as octets that come no faster than they are taken. */
import type { IncomingMessage } from "node:http";
import { giveBack } from "#kit/buffer-pool.ts";
import { BodyCutShort } from "./body.ts";
import { PlainRequest } from "./plain/request.ts";

/** Of fewer octets the memory is left to the collector: to give it back by hand takes as long. */
const LEAST_GIVEN_BACK = 16 * 1024;

/**
 * Each piece is good until the next is asked for: its memory is given back then. The collector looks at large pieces
 * late and all at once, and would take a third of the CPU time of uploads. Whoever leaves it early leaves the rest
 * unread, and can still answer.
 */
export async function* requestOctets(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    const chunks = request.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) {
      yield chunk as Buffer;
      if (chunk.length >= LEAST_GIVEN_BACK) giveBack(chunk as Buffer);
    }
  } catch (cause) {
    throw new BodyCutShort("The request broke off", { cause });
  }
}

/** The whole body where it has come already; null where it has to be read. */
export function octetsAtHand(request: IncomingMessage): Uint8Array | null {
  const known: unknown = request;
  return known instanceof PlainRequest ? known.octets : null;
}

/** What a refused client still sends is passed over up to here; beyond, its connection is better closed. */
const PASSED_OVER_BYTES = 64 * 1024;

/** Whether so much of the body may still come that it is not worth waiting for. */
export function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > PASSED_OVER_BYTES;
}
