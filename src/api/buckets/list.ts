/** Lists the buckets of an account by name. */
import { z } from "zod";
import type { Bucket } from "#objects";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { invalidFields } from "../errors.ts";
import { paths } from "./paths.ts";
import { checkJurisdiction, showBucket } from "./shape.ts";

const MAX_PER_PAGE = 1_000;
const DEFAULT_PER_PAGE = 20;

const query = z.object({
  name_contains: z.string().max(63).optional(),
  start_after: z.string().max(63).optional(),
  cursor: z.string().max(200).optional(),
  per_page: z.coerce.number().int().min(1).max(MAX_PER_PAGE).default(DEFAULT_PER_PAGE),
  order: z.enum(["name"]).default("name"),
  direction: z.enum(["asc", "desc"]).default("asc"),
});

export const listBuckets = paths.map((path) =>
  endpoint({
    method: "GET",
    path,
    summary: "List buckets",
    permission: "buckets.read",
    query,
    handle: async ({ params, query, headers }, { objects }) => {
      checkJurisdiction(headers);
      const found = wanted(await objects.buckets([params.account_id]), query);
      const page = found.slice(0, query.per_page);
      const cursor = found.length > page.length ? cursorAt(page.at(-1)!) : null;
      return new Answer(
        { buckets: page.map(showBucket) },
        { resultInfo: { ...(cursor !== null && { cursor }), per_page: query.per_page } },
      );
    },
  }),
);

/** What is left to list, in its order. */
function wanted(buckets: readonly Bucket[], asked: z.output<typeof query>): Bucket[] {
  const { name_contains = "", start_after, cursor, direction } = asked;
  const after = [start_after, cursor === undefined ? undefined : placeOf(cursor)];
  const isLeft = ({ name }: Bucket) =>
    name.includes(name_contains) &&
    after.every(
      (place) => place === undefined || (direction === "asc" ? name > place : name < place),
    );
  const left = buckets.filter(isLeft);
  return direction === "asc" ? left : left.toReversed();
}

function cursorAt({ name }: Bucket): string {
  return Buffer.from(name).toString("base64url");
}

function placeOf(cursor: string): string {
  const name = Buffer.from(cursor, "base64url").toString();
  if (/^[a-z0-9-]{3,63}$/.test(name)) return name;
  throw invalidFields([{ pointer: "/cursor", message: "cursor: not one that a list has given" }]);
}
