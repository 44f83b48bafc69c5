/** Lists the objects of a bucket, page by page. */
import type { StoreBucket, StoreObjects } from "#binding";
import { arg, command, text, whole } from "../command.ts";
import { wrongUsage } from "../fault.ts";
import { visible } from "../table.ts";
import { showSize, showTime } from "../units.ts";
import { readAddress } from "./address.ts";
import { objectJson } from "./show.ts";

const MOST_PER_PAGE = 1_000;
/** `1023.9 MiB` */
const SIZE_CELLS = 8;
/** `2026-11-15 08:30:02` */
const TIME_CELLS = 19;

const HEADER = `${"SIZE".padStart(SIZE_CELLS)}  ${"UPLOADED".padEnd(TIME_CELLS)}  KEY`;

export const listObjects = command({
  path: "object list",
  summary: "list a bucket's objects",
  args: { bucket: arg("BUCKET, or BUCKET/PREFIX") },
  options: {
    prefix: text("TEXT", "only keys that begin so"),
    delimiter: text("TEXT", "what follows it in a key is folded into one line, like a folder"),
    startAfter: text("KEY", "only keys after this one"),
    limit: whole("N", "at most so many", { least: 1, most: 1e12 }),
  },
  examples: [
    ["selvedge object list photos", "every key, in order, with size and time"],
    ["selvedge object list photos/2026/ --delimiter /", "one level, as folders"],
    ["selvedge object list photos --json | jq -r .key", "the keys alone"],
  ],
  json: "a line for each object, and for each prefix of a delimiter",
  async run({ args, options }, context) {
    const { bucket: name, key } = readAddress(args.bucket);
    if (key !== "" && options.prefix !== undefined) {
      throw wrongUsage("Give the prefix once: after the bucket, or with --prefix.");
    }
    const { delimiter, startAfter, limit = Infinity } = options;
    const prefix = options.prefix ?? key;
    const pages = pagesOf(context.bucket(name), { prefix, delimiter, startAfter }, limit);
    let count = 0;
    for await (const { objects, delimitedPrefixes } of pages) {
      if (count === 0 && context.out.isRead && objects.length + delimitedPrefixes.length > 0) {
        context.out.line(null, context.out.style.bold(HEADER));
      }
      for (const one of delimitedPrefixes) {
        const shown = one + delimiter!;
        const space = " ".repeat(SIZE_CELLS + TIME_CELLS + 2);
        context.out.line({ bucket: name, prefix: shown }, `${space}  ${visible(shown)}`);
      }
      for (const object of objects) {
        const size = showSize(object.size).padStart(SIZE_CELLS);
        const line = `${size}  ${showTime(object.uploaded)}  ${visible(object.key)}`;
        context.out.line(objectJson(name, object), line);
      }
      count += objects.length + delimitedPrefixes.length;
    }
    if (count === 0) context.out.note(`There are no such objects in ${name}.`);
  },
});

interface ListQuery {
  readonly prefix: string;
  readonly delimiter?: string | undefined;
  readonly startAfter?: string | undefined;
}

/** All pages, up to so many keys and prefixes. */
export async function* pagesOf(
  bucket: StoreBucket,
  { prefix, delimiter, startAfter }: ListQuery,
  limit = Infinity,
): AsyncGenerator<StoreObjects> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const page = await bucket.list({
      limit: Math.min(left, MOST_PER_PAGE),
      prefix,
      ...(delimiter !== undefined && { delimiter }),
      ...(cursor === undefined ? startAfter !== undefined && { startAfter } : { cursor }),
    });
    yield page;
    left -= page.objects.length + page.delimitedPrefixes.length;
    if (!page.truncated) return;
    cursor = page.cursor;
  }
}
