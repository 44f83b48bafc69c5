/** `onlyIf`: conditions as an object or as HTTP headers. */
import { dateField, type Fields, headerDate, isObject, textField, wrongField } from "./convert.ts";
import { parseEtagHeader } from "./etag-header.ts";
import type { WireConditions, WireEtag } from "./protocol.ts";

const STRUCT = "Conditional";

export interface GivenConditional {
  readonly etagMatches: string | undefined;
  readonly etagDoesNotMatch: string | undefined;
  readonly uploadedBefore: number | undefined;
  readonly uploadedAfter: number | undefined;
  readonly secondsGranularity: boolean;
}

/** Holds the value to its type. What it says is looked at when all arguments have theirs. */
export function readConditional(
  value: unknown,
  struct: string,
): GivenConditional | Headers | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Headers) return value;
  if (!isObject(value)) throw wrongField("onlyIf", struct, "Conditional or Headers");
  return readFields(value);
}

function readFields(given: Fields): GivenConditional {
  return {
    etagMatches: textField(given["etagMatches"], "etagMatches", STRUCT),
    etagDoesNotMatch: textField(given["etagDoesNotMatch"], "etagDoesNotMatch", STRUCT),
    uploadedBefore: dateField(given["uploadedBefore"], "uploadedBefore", STRUCT),
    uploadedAfter: dateField(given["uploadedAfter"], "uploadedAfter", STRUCT),
    secondsGranularity: Boolean(given["secondsGranularity"]),
  };
}

export function toConditions(given: GivenConditional | Headers | undefined): {
  onlyIf?: WireConditions;
} {
  if (given === undefined) return {};
  const onlyIf = given instanceof Headers ? fromHeaders(given) : fromObject(given);
  return Object.keys(onlyIf).length === 0 ? {} : { onlyIf };
}

function fromObject(given: GivenConditional): WireConditions {
  const { etagMatches, etagDoesNotMatch, ...dates } = given;
  return {
    ...(etagMatches !== undefined && { etagMatches: [plainEtag(etagMatches)] }),
    ...(etagDoesNotMatch !== undefined && { etagDoesNotMatch: [plainEtag(etagDoesNotMatch)] }),
    ...wireDates(dates),
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
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  return {
    ...(match !== null && { etagMatches: parseEtagHeader(match, "if-match") }),
    ...(noneMatch !== null && { etagDoesNotMatch: parseEtagHeader(noneMatch, "if-none-match") }),
    ...wireDates({
      uploadedBefore: headerDate(headers, "if-unmodified-since"),
      uploadedAfter: headerDate(headers, "if-modified-since"),
      secondsGranularity: true,
    }),
  };
}

/** The grain says something only beside a date. */
function wireDates({
  uploadedBefore,
  uploadedAfter,
  secondsGranularity,
}: Pick<
  GivenConditional,
  "uploadedBefore" | "uploadedAfter" | "secondsGranularity"
>): WireConditions {
  if (uploadedBefore === undefined && uploadedAfter === undefined) return {};
  return {
    ...(uploadedBefore !== undefined && { uploadedBefore }),
    ...(uploadedAfter !== undefined && { uploadedAfter }),
    ...(secondsGranularity && { secondsGranularity }),
  };
}
