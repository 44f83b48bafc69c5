/** A request's body as octets that come no faster than they are taken. */
import type { IncomingMessage } from "node:http";
import { BodyCutShort } from "./body.ts";

/** Whoever leaves it early leaves the rest unread, and can still answer. */
export async function* requestOctets(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    const chunks = request.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) yield chunk as Buffer;
  } catch (cause) {
    throw new BodyCutShort("The request broke off", { cause });
  }
}

/** What a refused client still sends is passed over up to here; beyond, its connection is better closed. */
const PASSED_OVER_BYTES = 64 * 1024;

/** Whether so much of the body may still come that it is not worth waiting for. */
export function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > PASSED_OVER_BYTES;
}
