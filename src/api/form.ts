/**
 * The parts of a form: multipart/form-data, RFC 7578 on RFC 2046 §5.1. Read in place, since what the platform
 * brings for it takes a second for a large script, in which nothing else runs.
 */
import { boundaryOf as namedBoundary, dispositionOf, partHeaders } from "#kit/form-headers.ts";
import { JsonFault } from "#kit/json-input.ts";

export interface FormPart {
  readonly name: string;
  /** Null for a plain field. */
  readonly filename: string | null;
  /** Its content type in lower case, without parameters; empty where there is none. */
  readonly type: string;
  /** A view of the body. */
  readonly content: Uint8Array;
}

/** Scripts have the most: a thousand modules, and files that are bound. */
const MAX_PARTS = 2_000;
/** Of one part. */
const MAX_HEADER_BYTES = 8 * 1024;

const CRLF = "\r\n";
const SPACE = 0x20;
const TAB = 0x09;

export function formParts(body: Buffer, boundary: string): FormPart[] {
  const delimiter = Buffer.from(`${CRLF}--${boundary}`);
  const parts: FormPart[] = [];
  // The first may stand at the very beginning; what comes before it is passed over.
  const isFirst = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let line = isFirst ? lineAt(body, delimiter.length - 2) : nextLine(body, 0, delimiter);
  while (line !== null && !line.isLast) {
    if (parts.length === MAX_PARTS) throw malformed(`more than ${MAX_PARTS} parts`);
    const { headers, start } = headersAt(body, line.end);
    const next = nextLine(body, start, delimiter);
    if (next === null) break;
    parts.push(partOf(headers, body, start, next.start));
    line = next;
  }
  if (line?.isLast === true) return parts;
  throw malformed("it has no end");
}

export function boundaryOf(contentType: string): string {
  const boundary = namedBoundary(contentType);
  if (boundary !== null) return boundary;
  throw malformed("its Content-Type names no boundary");
}

/** A line that divides parts: where it begins, and where the next part's headers do. */
interface Line {
  readonly start: number;
  readonly end: number;
  readonly isLast: boolean;
}

function nextLine(body: Buffer, from: number, delimiter: Buffer): Line | null {
  for (let at = body.indexOf(delimiter, from); at !== -1; at = body.indexOf(delimiter, at + 1)) {
    const line = lineAt(body, at + delimiter.length);
    if (line !== null) return { ...line, start: at };
  }
  return null;
}

/** What follows a delimiter: two dashes, or an empty rest of the line. Null when it is only text like it. */
function lineAt(body: Buffer, after: number): Line | null {
  if (body.toString("latin1", after, after + 2) === "--") {
    return { start: 0, end: after + 2, isLast: true };
  }
  let end = after;
  while (body[end] === SPACE || body[end] === TAB) end++;
  if (body.toString("latin1", end, end + 2) !== CRLF) return null;
  return { start: 0, end: end + 2, isLast: false };
}

function headersAt(body: Buffer, from: number): { headers: Map<string, string>; start: number } {
  const end = body.indexOf(CRLF + CRLF, from);
  if (end === -1 || end - from > MAX_HEADER_BYTES) throw malformed("a part has no end of headers");
  const headers = partHeaders(body.toString("utf8", from, end));
  if (headers === null) throw malformed("a part has a header without a name");
  return { headers, start: end + 4 };
}

function partOf(headers: Map<string, string>, body: Buffer, start: number, end: number): FormPart {
  const given = dispositionOf(headers);
  const name = given.get("name");
  if (name === undefined) throw malformed("a part has no name");
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  const content = new Uint8Array(body.buffer, body.byteOffset + start, end - start);
  const filename = given.get("filename") ?? null;
  return { name, filename, type: type.trim().toLowerCase(), content };
}

function malformed(why: string): JsonFault {
  return new JsonFault("malformed", `Malformed form in request body: ${why}`);
}
