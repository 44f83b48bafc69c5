/** Fetches objects into files, a folder or standard output. */
import { realpath, stat } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import type { StoreObject } from "#binding";
import { atMost } from "#kit/at-once.ts";
import { arg, command, flag, optionalArg, whole } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import { visible } from "../table.ts";
import { showSize } from "../units.ts";
import { type Address, readAddress, readObjectAddress } from "./address.ts";
import { downloadFile } from "./download.ts";
import { dropOldJournals, journalFolder } from "./journal.ts";
import { pagesOf } from "./list.ts";
import { DEFAULT_PARALLEL, MOST_PARALLEL, partSize, type Transfer } from "./parts.ts";
import { noSuchObject, objectJson } from "./show.ts";
import { writeOut } from "./write-out.ts";

export const getObjects = command({
  path: "object get",
  summary: "fetch objects into files",
  description:
    "Fetches an object into a file, which has its name only when it is whole. A large one comes in parts, several at a time; when that is interrupted, the same command goes on where it stopped.",
  args: {
    object: arg("BUCKET/KEY; with --recursive BUCKET/PREFIX"),
    to: optionalArg("a file, a folder, or - for standard output; the key's last part without it"),
  },
  options: {
    recursive: flag("all objects below a prefix, into a folder", "-r"),
    parallel: whole("N", `transfers at a time; ${DEFAULT_PARALLEL} unless told`, {
      least: 1,
      most: MOST_PARALLEL,
    }),
  },
  examples: [
    ["selvedge object get photos/2026/tulip.jpg", "into ./tulip.jpg"],
    ["selvedge object get backups/shop.gz - | gunzip | psql shop", "into a pipe"],
    ["selvedge object get site/ ./copy --recursive", "everything, by its key"],
  ],
  json: "a line for each object, with the file it is in",
  async run({ args, options }, context) {
    const { parallel = DEFAULT_PARALLEL } = options;
    if (args.to === "-") {
      if (context.out.json || options.recursive) {
        throw wrongUsage("Standard output takes one object, without --json or --recursive.");
      }
      await writeOut(readObjectAddress(args.object), context);
      return;
    }
    const journals = journalFolder(context.env);
    await dropOldJournals(journals, Date.now());
    if (options.recursive)
      await getBelow(readAddress(args.object), args.to, context, { parallel, journals });
    else await getOne(readObjectAddress(args.object), args.to, context, { parallel, journals });
  },
});

type Settings = Pick<Transfer, "parallel" | "journals">;

async function getOne(
  address: Address,
  to: string | undefined,
  context: CommandContext,
  settings: Settings,
): Promise<void> {
  const object = await context.bucket(address.bucket).head(address.key);
  if (object === null) throw noSuchObject(address);
  const path = await fileFor(address.key, to, context.cwd);
  using progress = context.out.progress(address.key, object.size);
  await downloadFile(address.bucket, object, path, { context, progress, ...settings });
  say(address.bucket, object, path, context);
}

async function getBelow(
  { bucket, key: prefix }: Address,
  to: string | undefined,
  context: CommandContext,
  settings: Settings,
): Promise<void> {
  const folder = resolve(context.cwd, to ?? ".");
  using progress = context.out.progress(`${bucket}/${prefix}`);
  const fetch = async ({ object, path }: Wanted) => {
    context.signal.throwIfAborted();
    await downloadFile(bucket, object, path, { context, progress, ...settings });
    say(bucket, object, path, context);
  };
  let count = 0;
  let skipped = 0;
  for await (const { objects } of pagesOf(context.bucket(bucket), { prefix })) {
    const wanted = objects
      .filter(({ key, size }) => !key.endsWith("/") || size > 0) // Tools make empty objects for folders.
      .flatMap((object) => {
        count++;
        const path = pathBelow(folder, object.key.slice(prefix.lastIndexOf("/") + 1));
        if (path !== null) return [{ object, path }];
        skipped++;
        context.out.warn(`${noPath(object.key)} ${ALONE}`);
        return [];
      });
    // Small ones side by side; large ones one after the other, for their parts come side by side.
    await atMost(settings.parallel, wanted.filter(isSmall), fetch);
    await atMost(
      1,
      wanted.filter((one) => !isSmall(one)),
      fetch,
    );
  }
  if (count === 0) {
    throw new CliFault("not-found", `There are no objects below ${bucket}/${prefix}.`);
  }
  if (skipped === 0) return;
  throw new CliFault("failed", `${skipped} of ${count} objects were not fetched.`);
}

interface Wanted {
  readonly object: StoreObject;
  readonly path: string;
}

const isSmall = ({ object: { size } }: Wanted) => size <= partSize(size);

const ALONE = "Fetch it alone and give the file a name.";

function noPath(key: string): string {
  return `The key "${visible(key)}" is no path of a file.`;
}

/** Keys are others' words: none may lead out of the folder. Null for one that would. */
export function pathBelow(folder: string, name: string): string | null {
  const parts = name.split("/");
  const isOdd = (part: string) =>
    part === "" || part === "." || part === ".." || part.includes("\0") || part.includes(sep);
  return parts.some(isOdd) ? null : join(folder, ...parts);
}

/** The file that is asked for; in a folder, and without a wish, the key's last part. */
async function fileFor(key: string, to: string | undefined, cwd: string): Promise<string> {
  const path = resolve(cwd, to ?? ".");
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isDirectory() && !found.isFile()) {
    throw wrongUsage(`${to} is no plain file. Give - and redirect standard output instead.`);
  }
  const isFolder = found?.isDirectory() === true || to?.endsWith("/") === true;
  if (isFolder) {
    const below = pathBelow(path, basename(key));
    if (below === null) throw wrongUsage(`${noPath(key)} Give the file a name.`);
    return below;
  }
  return found === null ? path : realpath(path); // A link stays one.
}

function say(bucket: string, object: StoreObject, path: string, { out }: CommandContext): void {
  const line = `Fetched ${bucket}/${visible(object.key)} (${showSize(object.size)}) into ${visible(path)}.`;
  out.line({ ...objectJson(bucket, object), file: path }, line);
}
