/** The ground that all parts stand on: the data folder, its lock, the database, the first account. */
import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { accountMigrations, bootstrap, type FirstCredentials, openSealKey } from "#accounts";
import { certificateMigrations } from "#certificates";
import { type Database, migrate, type Migration, openDatabase } from "#db";
import { cacheMigrations } from "#edge";
import { lockFolder } from "#kit/folder-lock.ts";
import { randomId } from "#kit/random.ts";
import { bucketDomainMigrations, objectMigrations } from "#objects";
import { scriptMigrations } from "#scripts";
import { zoneMigrations } from "#zones";

export interface GroundOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Opens what is sealed in the database; null has a key kept in the data folder. */
  readonly secretKey: string | null;
  readonly firstCredentials: Partial<FirstCredentials>;
  readonly now: () => number;
  /** Hears of trouble with the database outside any query. */
  readonly onError: (error: Error) => void;
}

export interface Ground extends AsyncDisposable {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  /** How many steps of the schema this start has made. */
  readonly migrated: number;
  /** Where the credentials were put; null on any start but the first. */
  readonly credentialsPath: string | null;
}

/** A part's tables may name those of the parts before it. */
const migrations: readonly Migration[] = [
  ...accountMigrations,
  ...zoneMigrations,
  ...objectMigrations,
  ...bucketDomainMigrations,
  ...scriptMigrations,
  ...cacheMigrations,
  ...certificateMigrations,
];

export async function openGround(options: GroundOptions): Promise<Ground> {
  const { dataDir, databaseUrl, secretKey, firstCredentials: wishes, now, onError } = options;
  await using opened = new AsyncDisposableStack();
  await makeDataFolder(dataDir);
  const taken = `Cannot use ${dataDir} (--data): another Selvedge is running on it.`;
  opened.use(lockFolder(dataDir, taken));
  const db = opened.use(await openDatabase({ url: databaseUrl, dataDir, onError }));
  const migrated = await migrate(db, migrations, { holder: randomId(), now, sleep });
  const sealKey = await openSealKey(db, dataDir, secretKey);
  const credentialsPath = await bootstrap(db, { dataDir, sealKey, now, wishes });
  const all = opened.move();
  return {
    db,
    sealKey,
    migrated,
    credentialsPath,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function makeDataFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(`Cannot use ${path} (--data): ${(cause as Error).message}.`, { cause });
  }
}
