/** A request that is to be sent on: its head, what is known of its body, and how it may end. */
import type { IncomingMessage } from "node:http";
import type { StreamedBody, Upstream } from "#http";
import type { Deadlines } from "#kit/deadlines.ts";
import { trailerLines } from "./trailers.ts";

/** How a request ended: answered to its last octet, left by its client, or failed. */
export type Passage =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "left" }
  | {
      readonly kind: "failed";
      readonly cause: Error;
      readonly answerBegan: boolean;
      /** There was no connection, and the request has no body that would be lost: it may be sent again. */
      readonly neverSent: boolean;
      /** Nothing is lost, and nothing can happen twice, when another is asked. */
      readonly mayGoElsewhere: boolean;
    };

export interface Onward {
  readonly upstream: Upstream;
  readonly target: string;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly requestId: string;
  /** Headers that the answer gets beside its own. */
  readonly answerHeaders?: readonly string[];
  /** How long the answer may take from the time that the request is sent; without it, for ever. */
  readonly answerWithin?: Deadlines;
  /** Whether trailers go to the other side: to origins, of which each knows them. Scripts have no way to read any. */
  readonly sendsTrailers?: boolean;
  /** Finds a body that the answer only names; where it cannot, it resolves to null. */
  readonly takeLent?: (name: string) => Promise<StreamedBody | null>;
}

/** Why a request that was sent on has no answer, and what may still be done. */
export function failure(request: IncomingMessage, cause: Error, answerBegan: boolean): Passage {
  const { code = "" } = cause as NodeJS.ErrnoException;
  const canRepeat = !hasBody(request) && SAFE.has(request.method!);
  return {
    kind: "failed",
    cause,
    answerBegan,
    mayGoElsewhere: !answerBegan && canRepeat && !cause.message.startsWith("No answer within"),
    neverSent: NO_CONNECTION.has(code) && !hasBody(request),
  };
}

const NO_CONNECTION: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT"]);
export const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** What goes out first: request line and headers, and the empty line. */
export function headOf(
  request: IncomingMessage,
  { target, headers, sendsTrailers }: Onward,
): string {
  const inChunks = isChunked(request);
  let head = `${request.method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  if (sendsTrailers === true) head += trailerLines(request, inChunks);
  // A body in chunks stays one; its header was for the connection that it came on.
  return inChunks ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`;
}

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return (length !== undefined && length !== "0") || isChunked(request);
}

/** A body whose length nobody has said. */
export function isChunked(request: IncomingMessage): boolean {
  const { headers } = request;
  if (request.httpVersionMajor < 2) return headers["transfer-encoding"] !== undefined;
  const { stream } = request as unknown as {
    readonly stream: { readonly endAfterHeaders: boolean };
  };
  return !stream.endAfterHeaders && headers["content-length"] === undefined;
}
