/**
 * Lists: stretches of the keys in their order. With a delimiter the walk jumps over each group to the
 * first key behind it, so a page costs what it shows, however many keys lie in its groups.
 */
import { type Bound, bytes, type Database, integer, maybe, statement } from "#db";
import { cursorAt, placeOf } from "./cursor.ts";
import { ObjectFault } from "./fault.ts";
import { behind, behindPrefix, checkText, later } from "./keys.ts";
import { MAX_PAGE, MAX_PAGE_METADATA } from "./limits.ts";
import type { Bucket, ListOptions, ListPage, ObjectInfo } from "./model.ts";
import { INFO, info, infoOf, type InfoRow } from "./object-rows.ts";

export async function list(db: Database, bucket: Bucket, options: ListOptions): Promise<ListPage> {
  const { limit = MAX_PAGE, metadata: withMetadata = true } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new ObjectFault("bad-limit", `A page has from 1 to ${MAX_PAGE} entries, not ${limit}`);
  }
  const { start, end, prefix } = stretchOf(options);
  const delimiter = octetsOf(options.delimiter);
  // One more than the page shows tells whether something remains.
  const asked = { bucket: bucket.number, start, end, entries: limit + 1 };
  
}
