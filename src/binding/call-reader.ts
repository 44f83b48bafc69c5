/**
 * Reads the calls that scripts' processes send, which are all of one form: a head without surprises and a small
 * body of known length. RFC 9112. Whatever else there is, Node's own parser may judge.
 */
import type { WholeRequest } from "./request-frames.ts";

/** A call whose body is all there. */
export interface WholeCall extends WholeRequest {
  readonly bucketName: string;
  /** Where the next request begins. */
  readonly end: number;
}

/** As long as Node's parser takes one. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Longer bodies are better read as they come. */
const MAX_BODY_BYTES = 64 * 1024;

const REQUEST_LINE = /^POST \/store\/v1\/([\w.-]+) HTTP\/1\.1\r\n/;
const HEADER_LINE = /([A-Za-z-]+): ([\x20-\x7e]*)\r\n/y;
/** What would change how the request is to be read or answered. */
const UNUSUAL = new Set(["transfer-encoding", "connection", "expect", "upgrade"]);

/** "more" when it has not come to its end; null for what is no such call. */
export function readCall(octets: Buffer): WholeCall | "more" | null {
  const headEnd = octets.indexOf("\r\n\r\n");
  if (headEnd === -1) return octets.length > MAX_HEAD_BYTES ? null : "more";
  const head = octets.toString("latin1", 0, headEnd + 2);
  const first = REQUEST_LINE.exec(head);
  const headers = first && readHeaders(head, first[0].length);
  if (first === null || headers === null) return null;
  const length = headers["content-length"] ?? "";
  if (!/^\d{1,5}$/.test(length) || Number(length) > MAX_BODY_BYTES) return null;
  const start = headEnd + 4;
  const end = start + Number(length);
  if (octets.length < end) return "more";
  return { bucketName: first[1]!, headers, octets: octets.subarray(start, end), end };
}

function readHeaders(head: string, start: number): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (HEADER_LINE.lastIndex = start; HEADER_LINE.lastIndex < head.length;) {
    const line = HEADER_LINE.exec(head);
    if (line === null) return null;
    const name = line[1]!.toLowerCase();
    if (name in headers || UNUSUAL.has(name)) return null;
    headers[name] = line[2]!;
  }
  return headers;
}
