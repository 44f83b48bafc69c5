/** The key that seals S3 secrets: given by the operator, or kept in the data folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, isDatabaseFault } from "#db";
import { writeDurably } from "#kit/durable-file.ts";
import { randomHex } from "#kit/random.ts";
import { SEAL_KEY_BYTES, sameDigest, sha256 } from "#kit/secrets.ts";
import { addInstallationFact, installationFact } from "./schema.ts";

const KEY_FILE = "secret.key";
const FACT = "secret key check";
/** Less could be guessed. */
const MIN_LENGTH = 16;

/**
 * Finds or makes the key and holds it against the one that the database was first used with:
 * with another key every sealed secret would be unreadable, and it is better to say so at once.
 */
export async function openSealKey(
  db: Database,
  dataDir: string,
  given: string | null,
): Promise<Uint8Array> {
  const path = join(dataDir, KEY_FILE);
  const where = given === null ? path : "SELVEDGE_SECRET_KEY";
  const key = keyOf(given ?? (await readKeyFile(path)) ?? (await makeKeyFile(path)), where);
  const check = sha256(`selvedge secret key ${key.toString("hex")}`);
  const known =
    (await db.first(installationFact({ name: FACT })))?.value ?? (await note(db, check));
  if (!sameDigest(check, known)) {
    throw new Error(
      `Cannot open the secrets of this database with the key from ${where}: it was made with another one. Set SELVEDGE_SECRET_KEY to the key of the node that made it (its ${KEY_FILE}).`,
    );
  }
  return key;
}

async function note(db: Database, check: string): Promise<string> {
  try {
    await db.write(addInstallationFact({ name: FACT, value: check }));
    return check;
  } catch (error) {
    if (!isDatabaseFault(error, "unique")) throw error;
    return (await db.first(installationFact({ name: FACT })))!.value; // Another node was first.
  }
}

async function readKeyFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function makeKeyFile(path: string): Promise<string> {
  const hex = randomHex(SEAL_KEY_BYTES * 2);
  await writeDurably(path, `${hex}\n`, 0o600);
  return hex;
}

/** 64 hex digits are the key itself; any other text is taken for what the key is made of. */
function keyOf(given: string, where: string): Buffer {
  if (given.length < MIN_LENGTH) {
    throw new Error(
      `Cannot use the key from ${where}: it must have at least ${MIN_LENGTH} characters`,
    );
  }
  const isKey = new RegExp(`^[0-9a-f]{${SEAL_KEY_BYTES * 2}}$`, "i").test(given);
  return Buffer.from(isKey ? given : sha256(`selvedge secret key from ${given}`), "hex");
}
