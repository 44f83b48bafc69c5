/** Opens the place for blobs that a URL names. */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { redactUrl } from "#kit/redact.ts";
import { SettingsFault } from "#kit/settings.ts";
import type { AccessKey } from "#kit/sigv4.ts";
import type { BlobDriver } from "../driver.ts";
import { besideOpen, openFiles } from "./files.ts";
import { parseS3Url } from "./s3-location.ts";

export interface BlobsOptions {
  /** `file:` with a path relative to the data folder, or `s3://…`. */
  readonly url: string;
  readonly dataDir: string;
  /** Has the keys for S3. */
  readonly environment: Environment;
  /** Another thread of this process has the same place open, and lets go of it last. */
  readonly isOpen?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_FOLDER = "blobs";

/** Variables that have the keys for S3, in order of precedence; those of AWS's own tools come last. */
const KEY_VARIABLES = ["SELVEDGE_BLOBS_", "AWS_"].map((prefix) => ({
  id: `${prefix}ACCESS_KEY_ID`,
  secret: `${prefix}SECRET_ACCESS_KEY`,
  sessionToken: `${prefix}SESSION_TOKEN`,
}));

/** Longer than a service that is well takes for anything. */
const S3_IDLE_MS = 30_000;

/** They travel in headers. */
const VISIBLE = /^[\x21-\x7e]{1,4096}$/;

const drivers: Readonly<Record<string, (options: BlobsOptions) => Promise<BlobDriver>>> = {
  file: async ({ url, dataDir, isOpen = false }) => {
    const folder = folderOf(url, dataDir);
    return isOpen ? besideOpen(folder) : openFiles(folder);
  },
  s3: async ({ url, environment }) => {
    const [location, key] = [parseS3Url(url), accessKeyOf(environment)];
    const { openS3 } = await import("./s3.ts"); // HTTP as a client takes some MiB.
    const common = { now: Date.now, sleep, random: Math.random, idleMs: S3_IDLE_MS };
    return openS3({ ...common, location, key });
  },
};

/** Throws a sentence for the operator when the URL is wrong, or what it names cannot be used. */
export async function openBlobs(options: BlobsOptions): Promise<BlobDriver> {
  const scheme = /^[^:]*/.exec(options.url)![0].toLowerCase();
  const open = Object.hasOwn(drivers, scheme) ? drivers[scheme] : undefined;
  if (open === undefined) {
    throw inVain(options.url, `it must begin with ${Object.keys(drivers).join(": or ")}:`);
  }
  return open(options);
}

function folderOf(url: string, dataDir: string): string {
  const path = url.slice("file:".length).replace(/^\/\/(?=\/)/, "");
  if (path.startsWith("//")) throw inVain(url, "a folder is file:/PATH or file:///PATH");
  return resolve(dataDir, path === "" ? DEFAULT_FOLDER : path);
}

function accessKeyOf(environment: Environment): AccessKey {
  for (const names of KEY_VARIABLES) {
    const [id, secret] = [environment[names.id] || null, environment[names.secret] || null];
    if (id === null && secret === null) continue;
    if (secret === null) throw new SettingsFault(`Cannot use ${names.id} without ${names.secret}.`);
    if (id === null) throw new SettingsFault(`Cannot use ${names.secret} without ${names.id}.`);
    const sessionToken = environment[names.sessionToken] || null;
    for (const [name, value] of [
      [names.id, id],
      [names.secret, secret],
      [names.sessionToken, sessionToken],
    ]) {
      if (value !== null && !VISIBLE.test(value!)) {
        // The value is a secret and stays out of the sentence.
        throw new SettingsFault(`Cannot use ${name}: expected visible ASCII characters.`);
      }
    }
    return sessionToken === null ? { id, secret } : { id, secret, sessionToken };
  }
  const { id, secret } = KEY_VARIABLES[0]!;
  throw new SettingsFault(`Cannot use --blobs s3://…: set ${id} and ${secret}.`);
}

function inVain(url: string, why: string): SettingsFault {
  return new SettingsFault(`Cannot use --blobs ${redactUrl(url)}: ${why}.`);
}
