/**
 * Leases: rows that say which node does a piece of background work, and until when. They hold on
 * engines without advisory locks, and lapse by themselves when a node dies.
 */
import { integer, text } from "./columns.ts";
import { type Database, isDatabaseFault } from "./database.ts";
import { type Bound, mustChangeOne, statement } from "./statement.ts";

export interface LeaseOptions {
  readonly name: string;
  /** Who asks; unique to the process. */
  readonly holder: string;
  readonly seconds: number;
}

const makeLease = statement({
  sql: "INSERT INTO leases (name, holder, expires_at) VALUES (:name, '', 0) ON CONFLICT (name) DO NOTHING",
  takes: { name: text },
});
const takeLease = statement({
  sql: `UPDATE leases SET holder = :holder, expires_at = :expiresAt
        WHERE name = :name AND (holder = :holder OR expires_at < :now)`,
  takes: { name: text, holder: text, expiresAt: integer, now: integer },
});
const stillHeld = statement({
  sql: "UPDATE leases SET holder = :holder WHERE name = :name AND holder = :holder AND expires_at >= :now",
  takes: { name: text, holder: text, now: integer },
});
const giveBack = statement({
  sql: "UPDATE leases SET holder = '', expires_at = 0 WHERE name = :name AND holder = :holder",
  takes: { name: text, holder: text },
});

/** Takes or renews a lease; false while another holds it. */
export async function acquireLease(
  db: Database,
  lease: LeaseOptions,
  now: number,
): Promise<boolean> {
  const { name, holder } = lease;
  const expiresAt = now + lease.seconds * 1000;
  try {
    await db.write(makeLease({ name }), mustChangeOne(takeLease({ name, holder, expiresAt, now })));
    return true;
  } catch (error) {
    if (isDatabaseFault(error, "guard")) return false;
    throw error;
  }
}

/** A step that undoes its whole write when the lease has been lost. */
export function whileHeld({ name, holder }: LeaseOptions, now: number): Bound {
  return mustChangeOne(stillHeld({ name, holder, now }));
}

export async function releaseLease(db: Database, { name, holder }: LeaseOptions): Promise<void> {
  await db.write(giveBack({ name, holder }));
}
