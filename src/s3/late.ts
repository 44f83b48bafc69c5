/**
 * Copies of gigabytes take longer than clients wait for an answer to begin. As S3 does it, 200 goes out early, and
 * blanks until there is more to say: clients look for an error in the document then.
 */
import type { ServerResponse } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import type { S3Answer } from "./operation.ts";
import { DECLARATION } from "./xml/write.ts";

/** The least patient SDKs give up after 30 s without an octet. */
const PATIENCE_MS = 10_000;

/** The work's own answer if it is done in time; else one that has the rest to come. */
export async function unlessLate(
  work: Promise<S3Answer> | S3Answer,
  patienceMs = PATIENCE_MS,
): Promise<S3Answer> {
  if (!(work instanceof Promise)) return work;
  const timer = new AbortController();
  const late = after(patienceMs, { late: work }, { signal: timer.signal });
  late.catch(() => {}); // It is called off when the work is done.
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

/** Gives the answer that came in the end; `late` must not fail. Nothing may stand before an XML declaration. */
export async function sendLate(
  response: ServerResponse,
  late: Promise<S3Answer>,
  common: readonly string[],
  patienceMs = PATIENCE_MS,
): Promise<S3Answer> {
  response.writeHead(200, [...common, "Content-Type", "application/xml"]);
  response.write(DECLARATION);
  const blanks = setInterval(() => {
    if (!response.destroyed) response.write(" ");
  }, patienceMs);
  try {
    const answer = await late;
    const document = typeof answer.body === "string" ? answer.body : "";
    response.end(document.replace(DECLARATION, ""));
    return answer;
  } finally {
    clearInterval(blanks);
  }
}
