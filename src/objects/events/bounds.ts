/** Keeps what is not delivered within bounds. A write is never refused for that: it costs the oldest events. */
import type { Database } from "#db";
import * as eventRows from "./event-rows.ts";
import { noteDropped } from "./notification-rows.ts";

export interface EventBounds {
  /** Of one rule, like the next. Those beyond are given up, the oldest first. */
  readonly waiting: number;
  /** Those that were given up; beyond this the oldest are lost. */
  readonly failed: number;
}

/** Some 300 octets each: 30 MiB for a target that is down for a long time. */
export const defaultBounds: EventBounds = { waiting: 100_000, failed: 10_000 };

export interface Trimmed {
  readonly failed: number;
  readonly dropped: number;
}

export async function trim(
  db: Database,
  notification: string,
  { waiting, failed }: EventBounds,
): Promise<Trimmed> {
  const beyond = (isFailed: boolean, most: number) =>
    db.first(eventRows.lastBeyond({ notification, isFailed, most }));
  const tooOld = await beyond(false, waiting);
  let given = 0;
  if (tooOld !== null) {
    const lastError = `More than ${waiting} events wait`;
    const [{ changes }] = await db.write(
      eventRows.giveUpTo({ notification, number: tooOld.number, lastError }),
    );
    given = changes;
  }
  const lost = await beyond(true, failed);
  if (lost === null) return { failed: given, dropped: 0 };
  const [{ changes: dropped }] = await db.write(
    eventRows.removeFailedTo({ notification, number: lost.number }),
  );
  await db.write(noteDropped({ id: notification, dropped }));
  return { failed: given, dropped };
}
