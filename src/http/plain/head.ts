/**
 * Reads the heads of requests that have nothing unusual about them. RFC 9112. It takes less than Node's parser does,
 * and what it takes it reads alike; whatever else comes, Node's may judge.
 */
import { remember, REMEMBERED_LENGTH } from "#kit/remember.ts";

export interface PlainHead {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** By lower-case name. None comes twice. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name, value, name, value, with names as they were spelled. */
  readonly rawHeaders: readonly string[];
  /** Octets of the head, and of the body behind it. */
  readonly length: number;
  readonly bodyLength: number;
  /** No request follows on the connection. */
  readonly isLast: boolean;
  /** Whether those of the same headers have the very same record of them. */
  readonly isShared: boolean;
}

const REQUEST_LINE = /^(GET|HEAD|PUT|POST|DELETE|OPTIONS|PATCH) (\/[!-~]*) HTTP\/1\.1\r\n/;
/** Lines of what can be printed: no line ends otherwise than it should, and none goes on in the next. */
const LINES = /^(?:[!-~][\t -~]*\r\n)+$/;
/** The same as far as it has come, and how all of them begin. */
const SOME_LINES = /^(?:[!-~][\t -~]*\r\n)*(?:[!-~][\t -~]*)?\r?$/;
const BEGINNINGS = ["GET /", "HEAD /", "PUT /", "POST /", "DELETE /", "OPTIONS /", "PATCH /"];
/** RFC 9110 §5.6.2. */
export const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const LENGTH = /^\d{1,5}$/;

/** What changes how a request is read or answered, or what Node shows otherwise than as one text. */
const UNUSUAL: ReadonlySet<string> = new Set([
  "__proto__",
  "expect",
  "proxy-connection",
  "set-cookie",
  "transfer-encoding",
  "upgrade",
]);

/** The name in lower case; null for one that is none, or unusual. */
const nameOf = remember((spelled): string | null => {
  const name = spelled.toLowerCase();
  return TOKEN.test(spelled) && !UNUSUAL.has(name) ? name : null;
});

/** The headers of a request, which on a connection are mostly those of the one before. */
interface Fields {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly bodyLength: number;
  readonly isLast: boolean;
}

/** Null for what is not plain. Shared by all requests with the same headers: nobody may change them. */
const fieldsOf = remember((lines): Fields | null => {
  if (!LINES.test(lines)) return null;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (let at = 0; at < lines.length;) {
    const lineEnd = lines.indexOf("\r\n", at);
    const colon = lines.indexOf(":", at);
    if (colon === -1 || colon > lineEnd) return null;
    const spelled = lines.slice(at, colon);
    const name = nameOf(spelled);
    // Of a name that comes twice, some readers take the first, others the last. Inherited ones are no names either.
    if (name === null || headers[name] !== undefined) return null;
    const value = trimmed(lines, colon + 1, lineEnd);
    headers[name] = value;
    rawHeaders.push(spelled, value);
    at = lineEnd + 2;
  }
  const { host, connection = "keep-alive", "content-length": bodyLength = "0" } = headers;
  if (host === undefined || !LENGTH.test(bodyLength)) return null;
  const isLast = connection !== "keep-alive" && connection.toLowerCase() === "close";
  if (!isLast && connection !== "keep-alive" && connection.toLowerCase() !== "keep-alive") {
    return null;
  }
  return { headers, rawHeaders, bodyLength: Number(bodyLength), isLast };
});

/** "more" when it has not come to its end; null for what is not plain, or longer than `mostOctets`. */
export function readHead(octets: Buffer, mostOctets: number): PlainHead | "more" | null {
  const end = octets.indexOf("\r\n\r\n");
  if (end === -1) return octets.length <= mostOctets && mayBePlain(octets) ? "more" : null;
  const length = end + 4;
  if (length > mostOctets) return null;
  const text = octets.toString("latin1", 0, end + 2);
  const line = REQUEST_LINE.exec(text);
  const fields = line && fieldsOf(text.slice(line[0].length));
  if (line === null || fields === null) return null;
  const { headers, rawHeaders, bodyLength, isLast } = fields;
  const [, method = "", url = ""] = line;
  const isShared = text.length - line[0].length <= REMEMBERED_LENGTH;
  return { method, url, headers, rawHeaders, length, bodyLength, isLast, isShared };
}

/** What is not is better told so at once than when its time is up. */
function mayBePlain(octets: Buffer): boolean {
  const text = octets.toString("latin1");
  const isBegun = BEGINNINGS.some((whole) => text.startsWith(whole) || whole.startsWith(text));
  return isBegun && SOME_LINES.test(text);
}

const BLANK = 0x20;
const TAB = 0x09;

/** The text between, without the blanks around it. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}
