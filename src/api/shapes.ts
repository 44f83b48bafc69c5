/** Shapes that several resources share. */
import { z } from "zod";
import { Answer, type ResultInfo } from "./envelope.ts";

/** RFC 3339 in UTC, without zeros at the end of the fraction: `…:02.38Z`, `…:02Z`. */
export function showTime(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastShown = new Date(milliseconds).toISOString().replace(/\.?0*Z$/, "Z");
  }
  return lastShown;
}

/** Lists show the same moment again and again: made and modified, and all that came together. */
let lastTime = Number.NaN;
let lastShown = "";

/** The end of the year 9999: what RFC 3339 can show. */
const LAST_TIME = Date.UTC(10_000, 0) - 1;

export const timeInput = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).getTime())
  .refine(
    (time) => time >= 0 && time <= LAST_TIME,
    "must lie between the years 1970 and 9999 in UTC",
  );

/** Clients ask for up to this many to get everything at once. */
const MAX_PER_PAGE = 5_000_000;
const DEFAULT_PER_PAGE = 20;

export const pageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  per_page: z.coerce.number().int().min(1).max(MAX_PER_PAGE).default(DEFAULT_PER_PAGE),
  direction: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["asc", "desc"]))
    .default("asc"),
});

/** The page of a list that the query asks for; past the end it is empty, and clients stop there. */
export function paged<T>(
  items: readonly T[],
  { page, per_page, direction }: z.output<typeof pageQuery>,
  show: (item: T) => unknown,
): Answer {
  const ordered = direction === "asc" ? items : items.toReversed();
  const result = ordered.slice((page - 1) * per_page, page * per_page).map(show);
  const resultInfo = pageInfo({ page, per_page }, result.length, items.length);
  return new Answer(result, { resultInfo });
}

/** Where a page of so many items stands among them all. */
export function pageInfo(
  { page, per_page }: { page: number; per_page: number },
  count: number,
  total_count: number,
): ResultInfo {
  return { page, per_page, count, total_count, total_pages: Math.ceil(total_count / per_page) };
}
