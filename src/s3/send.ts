/** Sends what an operation answers. */
import type { ServerResponse } from "node:http";
import { leaveUnsent, sendReply, sendStream, type StreamedBody } from "#http";
import type { S3Answer } from "./operation.ts";

/**
 * `common` are the headers of every answer. What streams is sent when the promise resolves; octets that
 * cannot be read are thrown, behind a head that has gone out.
 */
export function send(
  response: ServerResponse,
  { status = 200, headers = [], body }: S3Answer,
  common: readonly string[],
): Promise<void> | void {
  const streamed = isStreamed(body) ? body : null;
  // The client may have gone, or been refused, while the answer was made.
  const isOver =
    response.destroyed || response.headersSent || response.socket?.writableEnded === true;
  if (!isOver)
    response.writeHead(status, [...common, ...headers, ...lengthOf(response, status, body)]);
  if (isOver || response.req.method === "HEAD") {
    if (!isOver) response.end();
    return streamed === null ? undefined : leaveUnsent(streamed);
  }
  if (streamed !== null) return sendStream(response, streamed);
  response.end(body);
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

/** An answer to HEAD tells the length of what is not sent by itself. */
function lengthOf(response: ServerResponse, status: number, body: S3Answer["body"]): string[] {
  if (status === 204 || status === 304 || response.req.method === "HEAD") return [];
  if (body === undefined) return ["Content-Length", "0"];
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  return ["Content-Length", String(length)];
}
