/** The first start: makes the first user, their account and their keys. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Database, isDatabaseFault } from "#db";
import { writeDurably } from "#kit/durable-file.ts";
import { randomHex, randomId } from "#kit/random.ts";
import { sha256 } from "#kit/secrets.ts";
import { defaultSettings } from "./accounts.ts";
import { S3_ID_DIGITS, S3_SECRET_DIGITS, s3KeyRow } from "./s3-keys.ts";
import * as rows from "./schema.ts";

export interface BootstrapOptions {
  readonly dataDir: string;
  readonly sealKey: Uint8Array;
  readonly now: () => number;
  /** What the operator chose; the rest is random. */
  readonly wishes: Partial<Credentials>;
}

/** The contents of `credentials.json`. */
export interface Credentials {
  readonly email: string;
  readonly key: string;
  readonly s3_access_key_id: string;
  readonly s3_secret_access_key: string;
}

const CREDENTIALS_FILE = "credentials.json";
const FIELDS = ["email", "key", "s3_access_key_id", "s3_secret_access_key"] as const;
const DEFAULT_EMAIL = "admin@selvedge.local";
const FIRST_ACCOUNT = "Selvedge";
const FIRST_S3_KEY = {
  name: "first start",
  permission: "admin",
  buckets: null,
  expiresAt: null,
} as const;

/** The length of an API key that the original's clients know. */
const KEY_DIGITS = 37;

/** Does nothing on any start but the first; then returns where the credentials were written. */
export async function bootstrap(db: Database, options: BootstrapOptions): Promise<string | null> {
  if ((await db.first(rows.anyUser({}))) !== null) return null;
  const path = join(options.dataDir, CREDENTIALS_FILE);
  // The file comes before the rows: a crash between the two must not leave keys nobody knows, so
  // a file that is there already belongs to a first start that was cut short, and is finished.
  const found = await readCredentials(path);
  const credentials = found ?? chooseCredentials(options.wishes);
  if (found === null) await writeDurably(path, `${JSON.stringify(credentials, null, 2)}\n`, 0o600);
  try {
    await addFirstUser(db, credentials, options);
    return path;
  } catch (error) {
    if (!isDatabaseFault(error, "unique")) throw error;
    if (found === null) await rm(path); // Another node was first, and its keys are the ones.
    return null;
  }
}

async function readCredentials(path: string): Promise<Credentials | null> {
  try {
    const parsed = JSON.parse(await readFile(path, "utf8")) as Credentials;
    const missing = FIELDS.filter((field) => typeof parsed[field] !== "string");
    if (missing.length === 0) return parsed;
    throw new Error(`it lacks ${missing.join(", ")}. Remove it to have new keys made`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Error(`Cannot use ${path}: ${(error as Error).message}.`, { cause: error });
  }
}

function chooseCredentials(wishes: Partial<Credentials>): Credentials {
  return {
    email: DEFAULT_EMAIL,
    key: randomHex(KEY_DIGITS),
    s3_access_key_id: randomHex(S3_ID_DIGITS),
    s3_secret_access_key: randomHex(S3_SECRET_DIGITS),
    ...wishes,
  };
}

async function addFirstUser(
  db: Database,
  credentials: Credentials,
  { sealKey, now }: BootstrapOptions,
): Promise<void> {
  const createdAt = now();
  const userId = randomId();
  const accountId = randomId();
  const details = {
    firstName: null,
    lastName: null,
    telephone: null,
    country: null,
    zipcode: null,
  };
  const email = credentials.email.toLowerCase();
  const pair = {
    accessKeyId: credentials.s3_access_key_id,
    secretAccessKey: credentials.s3_secret_access_key,
  };
  await db.write(
    // Two nodes that start at once would make two first users; this row can be written only once.
    rows.addInstallationFact({ name: "first user", value: userId }),
    rows.addUser({ id: userId, email, keyHash: sha256(credentials.key), details, createdAt }),
    rows.addAccount({
      id: accountId,
      name: FIRST_ACCOUNT,
      type: "standard",
      settings: defaultSettings,
      createdAt,
    }),
    rows.addMembership({ userId, accountId, id: randomId(), createdAt }),
    s3KeyRow(sealKey, accountId, pair, FIRST_S3_KEY, createdAt),
  );
}
