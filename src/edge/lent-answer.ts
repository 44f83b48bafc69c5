/** Answers of scripts that name a body in the store instead of having one. */
import type { IncomingMessage } from "node:http";
import type { ResponseHead } from "#http";
import { LENT_BODY } from "#kit/lent-body.ts";

/** As the store makes names. */
const NAME = /^[\w-]{22}$/;

/** The name of the body; null of an answer that has its own, whatever it says. */
export function lentIn(
  { headers, length }: ResponseHead,
  { method }: IncomingMessage,
): string | null {
  if (length !== 0 && method !== "HEAD") return null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === LENT_BODY && NAME.test(headers[i + 1]!))
      return headers[i + 1]!;
  }
  return null;
}

/** The head as if the body had come with it. */
export function withLength({ headers, ...head }: ResponseHead, length: number): ResponseHead {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (name !== LENT_BODY && name !== "content-length") kept.push(headers[i]!, headers[i + 1]!);
  }
  kept.push("Content-Length", String(length));
  return { ...head, headers: kept, length };
}
