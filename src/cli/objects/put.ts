/** Stores files, folders or standard input as objects. */
import { Readable } from "node:stream";
import type { StoreMultipartOptions } from "#binding";
import { atMost } from "#kit/at-once.ts";
import { storageClasses } from "../buckets/bucket.ts";
import { arg, choice, command, flag, someArgs, text, texts, whole } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import { visible } from "../table.ts";
import { showSize } from "../units.ts";
import { type Address, readAddress } from "./address.ts";
import { contentTypeOf } from "./content-type.ts";
import { dropOldJournals, journalFolder } from "./journal.ts";
import { type Planned, planPut } from "./local-files.ts";
import { DEFAULT_PARALLEL, MOST_PARALLEL, partSize, type Transfer } from "./parts.ts";
import { objectJson } from "./show.ts";
import { uploadFile } from "./upload.ts";

export const putObjects = command({
  path: "object put",
  summary: "store files as objects",
  description:
    "Stores files as objects. A large file goes in parts, several at a time; when that is interrupted, the same command goes on where it stopped.",
  args: {
    target: arg("BUCKET/KEY, or BUCKET/PREFIX/ for several files"),
    files: someArgs("files, folders with --recursive, or - for standard input (up to 5 GiB)"),
  },
  options: {
    recursive: flag("take folders, with all that is in them", "-r"),
    parallel: whole("N", `transfers at a time; ${DEFAULT_PARALLEL} unless told`, {
      least: 1,
      most: MOST_PARALLEL,
    }),
    contentType: text("TYPE", "by default after the end of the file's name"),
    contentLanguage: text("LANGUAGE", "such as en"),
    contentEncoding: text("ENCODING", "such as gzip, when the file is so"),
    contentDisposition: text("TEXT", "such as attachment"),
    cacheControl: text("TEXT", "such as max-age=3600"),
    metadata: texts("NAME=VALUE", "metadata of your own; may stand more than once"),
    storageClass: choice(storageClasses, "the bucket's own unless told"),
  },
  examples: [
    ["selvedge object put photos/tulip.jpg tulip.jpg", "one file"],
    ["selvedge object put site/ ./dist --recursive", "a folder's files by their paths"],
    ["pg_dump shop | gzip | selvedge object put backups/shop.gz -", "what a pipe brings"],
  ],
  json: "a line for each object",
  async run({ args, options }, context) {
    const address = readAddress(args.target);
    const optionsFor = metadataOptions(options);
    if (args.files.includes("-")) {
      await putInput(address, args.files, optionsFor, context);
      return;
    }
    const where = { cwd: context.cwd, isRecursive: options.recursive };
    const { planned, skipped } = await planPut(address, args.files, where);
    for (const { path, why } of skipped) context.out.warn(`${visible(path)} is left out: ${why}.`);
    const total = planned.reduce((sum, { file }) => sum + file.size, 0);
    const title = planned.length === 1 ? planned[0]!.key : `${planned.length} files`;
    using progress = context.out.progress(title, total);
    const journals = journalFolder(context.env);
    await dropOldJournals(journals, Date.now());
    const { parallel = DEFAULT_PARALLEL } = options;
    const transfer = { context, parallel, progress, journals };
    const failed = await putFiles(address.bucket, planned, optionsFor, transfer);
    const missing = failed + skipped.length;
    if (missing === 0) return;
    const count = `${missing} of ${planned.length + skipped.length} files were not stored.`;
    const advice = failed > 0 ? " Run the command again to try them." : "";
    throw new CliFault("failed", `${count}${advice}`);
  },
});

type OptionsFor = (name: string) => StoreMultipartOptions;

async function putInput(
  address: Address,
  files: readonly string[],
  optionsFor: OptionsFor,
  context: CommandContext,
): Promise<void> {
  if (files.length > 1) throw wrongUsage("Standard input (-) stands alone.");
  if (address.key === "" || address.key.endsWith("/")) {
    throw wrongUsage("Standard input needs a key: write BUCKET/KEY.");
  }
  using progress = context.out.progress(address.key);
  const counted = context.stdin.map((chunk: Buffer) => {
    progress.add(chunk.length);
    return new Uint8Array(chunk);
  });
  const stream = Readable.toWeb(counted) as ReadableStream<Uint8Array>;
  const bucket = context.bucket(address.bucket);
  const stored = await bucket.put(address.key, stream, optionsFor(address.key));
  say(address.bucket, stored, context.out);
}

/** Small files side by side; large ones one after the other, for their parts go side by side. Returns how many failed. */
async function putFiles(
  bucket: string,
  planned: readonly Planned[],
  optionsFor: OptionsFor,
  transfer: Transfer,
): Promise<number> {
  const { out, signal } = transfer.context;
  let failed = 0;
  const put = async ({ key, file }: Planned) => {
    signal.throwIfAborted();
    try {
      say(bucket, await uploadFile({ bucket, key }, file, optionsFor(file.path), transfer), out);
    } catch (error) {
      if (signal.aborted || planned.length === 1) throw error;
      failed++;
      out.warn(`${file.path} was not stored: ${(error as Error).message}`);
    }
  };
  const isSmall = ({ file }: Planned) => file.size <= partSize(file.size);
  await atMost(transfer.parallel, planned.filter(isSmall), put);
  await atMost(
    1,
    planned.filter((one) => !isSmall(one)),
    put,
  );
  return failed;
}

function say(
  bucket: string,
  stored: Parameters<typeof objectJson>[1],
  out: CommandContext["out"],
): void {
  const { key, size } = stored;
  out.line(objectJson(bucket, stored), `Stored ${bucket}/${visible(key)} (${showSize(size)}).`);
}

interface MetadataOptions {
  readonly contentType: string | undefined;
  readonly contentLanguage: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentDisposition: string | undefined;
  readonly cacheControl: string | undefined;
  readonly metadata: readonly string[];
  readonly storageClass: (typeof storageClasses)[number] | undefined;
}

/** What is stored beside a file of that name. */
function metadataOptions(given: MetadataOptions): OptionsFor {
  const { contentType, storageClass, metadata, ...http } = given;
  const customMetadata = Object.fromEntries(metadata.map(readPair));
  return (name) => ({
    httpMetadata: present({
      contentType: contentType ?? contentTypeOf(name),
      contentLanguage: http.contentLanguage,
      contentEncoding: http.contentEncoding,
      contentDisposition: http.contentDisposition,
      cacheControl: http.cacheControl,
    }),
    ...(metadata.length > 0 && { customMetadata }),
    ...(storageClass !== undefined && { storageClass }),
  });
}

function present(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(fields).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(given);
}

function readPair(given: string): [string, string] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw wrongUsage(`"${given}" is no metadata. Write NAME=VALUE.`);
}
