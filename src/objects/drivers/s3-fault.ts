/** What an S3 endpoint refuses, and which of it may pass when it is asked again. */
import { childText, parseXml } from "#kit/xml.ts";
import { ObjectFault } from "../fault.ts";

export class S3Fault extends Error {
  override readonly name = "S3Fault";
  /** Of the answer; 0 when it was no answer of S3's kind. */
  readonly status: number;
  /** `NoSuchBucket` and the like; null where the answer had none, as to HEAD. */
  readonly code: string | null;

  constructor(status: number, code: string | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

const PASSING_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** Its status is 400: the server waited too long for the body. */
const PASSING_CODE = "RequestTimeout";

/** Long enough for any sentence that is of use. */
const MAX_MESSAGE = 200;

/** A refusal, from its status and its body. */
export function answerFault(status: number, text: string): S3Fault {
  const { code, message } = wordsOf(text);
  const words = [status, code, message].filter((word) => word !== null).join(" ");
  return new S3Fault(status, code, words.slice(0, MAX_MESSAGE));
}

function wordsOf(text: string): { code: string | null; message: string | null } {
  try {
    const root = parseXml(text.trim());
    return { code: childText(root, "Code"), message: childText(root, "Message") };
  } catch {
    return { code: null, message: null }; // Of a proxy in between, or of none at all.
  }
}

/** All faults of the network may, for one that lasts costs some seconds only. */
export function mayPass(error: unknown): boolean {
  if (error instanceof S3Fault) {
    return PASSING_STATUS.has(error.status) || error.code === PASSING_CODE;
  }
  return typeof (error as NodeJS.ErrnoException).code === "string";
}

export function isMissing(error: unknown): boolean {
  return error instanceof S3Fault && error.status === 404 && error.code !== "NoSuchBucket";
}

/** In the words of the store. */
export function storeFault(
  doing: "write" | "open" | "read" | "delete" | "list",
  cause: unknown,
): ObjectFault {
  if (cause instanceof ObjectFault) return cause;
  const why = whyOf(cause);
  return new ObjectFault("unavailable", `Cannot ${doing} a blob: ${why}.`, { cause });
}

/** Errors of a connection to several addresses have their words inside. */
export function whyOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || code || String(error)).replace(/\.$/, "");
}
