/**
 * Cron expressions of the original: five fields, in UTC, where 1 is Sunday and 7 is Saturday.
 * https://developers.cloudflare.com/workers/configuration/cron-triggers/
 */
import { Cron } from "croner";
import { invalid, quoted } from "./fault.ts";

/** When something is due. */
export interface CronTimes {
  /** The first minute after a time, in ms since 1970; null when there is none. */
  next(after: number): number | null;
}

/** No expression that anyone writes is longer; lists of all minutes are. */
const MAX_LENGTH = 256;
const FIELDS = /^(?:[\dA-Z*,/-]+ ){4}[\dA-Z*,/#-]+$/i;
/** The library would take 8 for Sunday. */
const NO_WEEKDAY = /(?<![\d#/])(?:0|[89]|\d{2,})(?!\d)/;

export function parseCron(expression: string): CronTimes {
  const wrong = (why: string) => invalid(`cron: ${quoted(expression)} ${why}`);
  const text = expression.trim().replaceAll(/\s+/g, " ");
  if (text.length > MAX_LENGTH || !FIELDS.test(text)) {
    throw wrong("is no cron expression: minute, hour, day of the month, month, day of the week");
  }
  if (NO_WEEKDAY.test(text.split(" ")[4]!)) {
    throw wrong("has a day of the week that is not one of 1 (Sunday) to 7 (Saturday)");
  }
  try {
    const cron = new Cron(text, {
      mode: "5-part",
      alternativeWeekdays: true,
      sloppyRanges: true,
      utcOffset: 0,
      paused: true,
    });
    return { next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null };
  } catch (error) {
    throw wrong(`is no cron expression: ${(error as Error).message.replace("CronPattern: ", "")}`);
  }
}
