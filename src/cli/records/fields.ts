/** The options that say what a record holds, for `add` and `edit`. */
import { type Option, text, texts, toggle, whole } from "../command.ts";
import { wrongUsage } from "../fault.ts";
import { AUTOMATIC_TTL } from "./record.ts";

/** What the API takes; a zone's own floor may be higher. */
const LEAST_TTL = 30;
const MOST_TTL = 86_400;

const ttl: Option<number | undefined> = {
  placeholder: "SECONDS",
  help: `how long others may keep it: ${LEAST_TTL} to ${MOST_TTL}, or auto`,
  read: (given) => {
    if (given === "auto") return AUTOMATIC_TTL;
    const seconds = Number(given);
    const isRight = /^\d+$/.test(given) && seconds >= LEAST_TTL && seconds <= MOST_TTL;
    if (isRight || seconds === AUTOMATIC_TTL) return seconds;
    throw new Error(`It must be auto, or a whole number from ${LEAST_TTL} to ${MOST_TTL}.`);
  },
};

export const recordOptions = {
  ttl,
  proxied: toggle("answer with the edge's addresses, so that requests pass through it"),
  priority: whole("N", "of MX, SRV and URI records", { least: 0, most: 65_535 }),
  comment: text("TEXT", "a note about the record; empty removes it"),
  tag: texts("NAME:VALUE", "a tag; may stand more than once, and replaces those it had"),
  fields: text("JSON", "the API's data object, instead of content"),
};

export interface GivenFields {
  readonly ttl: number | undefined;
  readonly proxied: boolean | undefined;
  readonly priority: number | undefined;
  readonly comment: string | undefined;
  readonly tag: readonly string[];
  readonly fields: string | undefined;
}

/** The part of the API's body that these say; what is not given is not there. */
export function bodyOf({ ttl, proxied, priority, comment, tag, fields }: GivenFields): object {
  return {
    ...(ttl !== undefined && { ttl }),
    ...(proxied !== undefined && { proxied }),
    ...(priority !== undefined && { priority }),
    ...(comment !== undefined && { comment: comment === "" ? null : comment }),
    ...(tag.length > 0 && { tags: tag.filter((one) => one !== "") }),
    ...(fields !== undefined && { data: readFields(fields) }),
  };
}

function readFields(given: string): object {
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw wrongUsage(`Cannot read --fields: ${(error as Error).message}.`);
  }
  throw wrongUsage(`Cannot read --fields: ${given} is no JSON object.`);
}
