/** Sends what an operation answers. */
import type { ServerResponse } from "node:http";
import { endWith, leaveUnsent, sendReply, sendStream, type StreamedBody } from "#http";
import type { S3Answer } from "./operation.ts";

/**
 * `common` are the headers of every answer. What streams is sent when the promise resolves; octets that
 * cannot be read are thrown, behind a head that has gone out.
 */
export function send(
  response: ServerResponse,
  { status = 200, headers, body }: S3Answer,
  common: readonly string[],
): Promise<void> | void {
  const streamed = isStreamed(body) ? body : null;
  // The client may have gone, or been refused, while the answer was made.
  const isOver =
    response.destroyed || response.headersSent || response.socket?.writableEnded === true;
  const isHead = response.req.method === "HEAD";
  if (!isOver) {
    const lines = headers === undefined ? [...common] : [...common, ...headers];
    // An answer to HEAD tells the length of what is not sent by itself.
    if (!isHead && status !== 204 && status !== 304) {
      lines.push("Content-Length", String(lengthOf(body)));
    }
    response.writeHead(status, lines);
  }
  if (isOver || isHead) {
    if (!isOver) response.end();
    return streamed === null ? undefined : leaveUnsent(streamed);
  }
  if (streamed !== null) return sendStream(response, streamed);
  if (body instanceof Uint8Array) endWith(response, body);
  else response.end(body);
}

/** The last answer on a connection whose request was not read to its end. Resolves and throws as the other does. */
export function sendLast(
  response: ServerResponse,
  { status = 200, headers = [], body }: S3Answer,
  common: readonly string[],
  requestId: string,
): Promise<void> | void {
  const all: Record<string, string> = { Date: new Date().toUTCString() };
  const lines = [...common, ...headers];
  for (let i = 0; i < lines.length; i += 2) all[lines[i]!] = lines[i + 1]!;
  const { "Content-Type": type = "application/xml", ...rest } = all;
  const whole = { status, type, body: body ?? "", headers: rest, closes: true };
  return sendReply(response, whole, requestId);
}

function isStreamed(body: S3Answer["body"]): body is StreamedBody {
  return body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
}

function lengthOf(body: S3Answer["body"]): number {
  return typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
}
