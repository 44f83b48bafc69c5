/** `onlyIf`: conditions as an object or as HTTP headers. */
import { dateField, textField, toText, wrongField } from "./convert.ts";
import { parseEtagHeader } from "./etag-header.ts";
import type { WireConditions, WireEtag } from "./protocol.ts";

const STRUCT = "Conditional";

export function toConditions(value: unknown, struct: string): WireConditions | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" && typeof value !== "function") {
    throw wrongField("onlyIf", struct, "Conditional or Headers");
  }
  const conditions =
    value instanceof Headers ? fromHeaders(value) : fromObject(value as Record<string, unknown>);
  return Object.keys(conditions).length === 0 ? undefined : conditions;
}

function fromObject(given: Record<string, unknown>): WireConditions {
  const etagMatches = textField(given["etagMatches"], "etagMatches", STRUCT);
  const etagDoesNotMatch = textField(given["etagDoesNotMatch"], "etagDoesNotMatch", STRUCT);
  const uploadedBefore = dateField(given["uploadedBefore"], "uploadedBefore", STRUCT);
  const uploadedAfter = dateField(given["uploadedAfter"], "uploadedAfter", STRUCT);
  const isCoarse = Boolean(given["secondsGranularity"]);
  return {
    ...(etagMatches !== undefined && { etagMatches: [plainEtag(etagMatches)] }),
    ...(etagDoesNotMatch !== undefined && { etagDoesNotMatch: [plainEtag(etagDoesNotMatch)] }),
    ...(uploadedBefore !== undefined && { uploadedBefore }),
    ...(uploadedAfter !== undefined && { uploadedAfter }),
    ...(isCoarse &&
      (uploadedBefore ?? uploadedAfter) !== undefined && { secondsGranularity: true }),
  };
}

function plainEtag(text: string): WireEtag {
  if (text === "*") return { type: "wildcard" };
  if (text.startsWith('"') && text.endsWith('"')) {
    throw new TypeError(`Conditional ETag should not be wrapped in quotes (${text}).`);
  }
  return { type: "strong", value: text };
}

function fromHeaders(headers: Headers): WireConditions {
  const etags = (header: "if-match" | "if-none-match") => {
    const text = headers.get(header);
    return text === null ? undefined : parseEtagHeader(text, header);
  };
  const etagMatches = etags("if-match");
  const etagDoesNotMatch = etags("if-none-match");
  const uploadedAfter = headerDate(headers, "if-modified-since");
  const uploadedBefore = headerDate(headers, "if-unmodified-since");
  return {
    ...(etagMatches && { etagMatches }),
    ...(etagDoesNotMatch && { etagDoesNotMatch }),
    ...(uploadedBefore !== undefined && { uploadedBefore }),
    ...(uploadedAfter !== undefined && { uploadedAfter }),
    ...((uploadedBefore ?? uploadedAfter) !== undefined && { secondsGranularity: true }),
  };
}

/** A date that cannot be read is the epoch, as in the original: the condition still counts. */
export function headerDate(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const time = new Date(toText(text)).getTime();
  return Number.isNaN(time) ? 0 : time;
}
