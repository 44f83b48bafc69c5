/** Deletes objects: those named, or all below a prefix. */
import { atMost } from "#kit/at-once.ts";
import { command, someArgs, text, yes } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import { visible } from "../table.ts";
import { readAddress, readObjectAddress } from "./address.ts";
import { pagesOf } from "./list.ts";

/** What the store takes in one go. */
const MOST_KEYS = 1_000;
const LOOKS_AT_ONCE = 8;
const NOTHING = "Nothing was deleted.";

export const deleteObjects = command({
  path: "object delete",
  summary: "delete objects",
  description: "Deletes objects. A key that is not there is told, and is no fault.",
  args: { objects: someArgs("BUCKET/KEY; with --prefix one BUCKET") },
  options: { prefix: text("TEXT", "all keys that begin so; '' is all there are"), yes },
  examples: [
    ["selvedge object delete photos/tulip.jpg", "one object, without a question"],
    ["selvedge object delete photos --prefix 2025/", "shows how many there are and asks"],
  ],
  json: "how many keys were deleted",
  async run({ args, options }, context) {
    const { prefix } = options;
    const deleted =
      prefix === undefined
        ? await deleteNamed(args.objects, options.yes, context)
        : await deleteBelow(args.objects, prefix, options.yes, context);
    context.out.result({ deleted }, `Deleted ${counted(deleted)}.`);
  },
});

async function deleteNamed(
  given: readonly string[],
  isSure: boolean,
  context: CommandContext,
): Promise<number> {
  const addresses = given.map(readObjectAddress);
  const question = `Delete ${counted(addresses.length)}?`;
  if (addresses.length > 1 && !isSure) await context.confirm(question, NOTHING);
  let deleted = 0;
  for (const [name, group] of Map.groupBy(addresses, ({ bucket }) => bucket)) {
    const bucket = context.bucket(name);
    const keys: string[] = [];
    await atMost(LOOKS_AT_ONCE, new Set(group.map(({ key }) => key)), async (key) => {
      if ((await bucket.head(key)) !== null) keys.push(key);
      else context.out.warn(`There is no object ${visible(key)} in ${name}.`);
    });
    for (let at = 0; at < keys.length; at += MOST_KEYS) {
      await bucket.delete(keys.slice(at, at + MOST_KEYS));
    }
    deleted += keys.length;
  }
  return deleted;
}

async function deleteBelow(
  given: readonly string[],
  prefix: string,
  isSure: boolean,
  context: CommandContext,
): Promise<number> {
  const { bucket: name, key } = readAddress(given[0]!);
  if (given.length > 1 || key !== "")
    throw wrongUsage("With --prefix give one bucket, and no key.");
  const bucket = context.bucket(name);
  if (!isSure) {
    const { objects, truncated } = await bucket.list({ prefix });
    if (objects.length === 0) return 0;
    const many = truncated ? `${objects.length} and more objects` : counted(objects.length);
    const below = prefix === "" ? `all of ${name}` : `${name}/${prefix}`;
    await context.confirm(`Delete ${many}, ${below}?`, NOTHING);
  }
  let deleted = 0;
  for await (const { objects } of pagesOf(bucket, { prefix })) {
    if (objects.length === 0) continue;
    await bucket.delete(objects.map((object) => object.key));
    deleted += objects.length;
  }
  return deleted;
}

function counted(count: number): string {
  return count === 1 ? "1 object" : `${count} objects`;
}
