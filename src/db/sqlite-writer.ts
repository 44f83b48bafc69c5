/**
 * The thread that writes to SQLite. Writes that arrive while the last commit reaches the disk
 * wait together and share the next one, so the cost of a sync is split between them.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { SqlValue } from "./statement.ts";
import { configureSqlite } from "./sqlite-settings.ts";

export interface WriteStep {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly returnsRows: boolean;
  readonly mustChange: number | null;
  /** Whether the prepared statement is worth keeping. */
  readonly keep: boolean;
}

export interface WriteRequest {
  readonly id: number;
  readonly steps: readonly WriteStep[];
}

export interface WriteOutcome {
  readonly changes: number;
  readonly rows: readonly (readonly SqlValue[])[];
}

export type WriteReply =
  | { readonly id: number; readonly outcomes: readonly WriteOutcome[] }
  | { readonly id: number; readonly guard: readonly [mustChange: number, changes: number] }
  | { readonly id: number; readonly failure: { message: string; errcode: number } };

/** Bounds how long the first write of a group waits for the last. */
const MAX_GROUP = 256;

class GuardFailed extends Error {
  readonly guard: readonly [number, number];
  constructor(mustChange: number, changes: number) {
    super("guard");
    this.guard = [mustChange, changes];
  }
}

const port = parentPort!;
const db = new DatabaseSync((workerData as { path: string }).path);
configureSqlite(db);
const prepared = new Map<string, StatementSync>();

port.on("message", (first: WriteRequest | "close") => {
  const group: WriteRequest[] = [];
  let closing = false;
  for (let next: WriteRequest | "close" | undefined = first; next !== undefined;) {
    if (next === "close") closing = true;
    else group.push(next);
    if (closing || group.length === MAX_GROUP) break;
    next = receiveMessageOnPort(port)?.message as WriteRequest | "close" | undefined;
  }
  if (group.length > 0) port.postMessage(commit(group));
  if (closing) {
    db.close();
    port.close();
  }
});
port.postMessage("open");

function commit(group: readonly WriteRequest[]): WriteReply[] {
  try {
    db.exec("BEGIN IMMEDIATE");
    const replies = group.map(perform);
    db.exec("COMMIT");
    return replies;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    return group.map(({ id }) => ({ id, failure: describe(error) }));
  }
}

/** One write inside the group's commit. What fails is undone alone; the others go on. */
function perform({ id, steps }: WriteRequest): WriteReply {
  // A lone statement without a guard is undone by SQLite itself when it fails.
  const nested = steps.length > 1 || steps[0]?.mustChange !== null;
  if (nested) db.exec("SAVEPOINT one_write");
  try {
    const outcomes = steps.map(run);
    if (nested) db.exec("RELEASE one_write");
    return { id, outcomes };
  } catch (error) {
    if (!db.isTransaction) throw error; // SQLite gave up on the whole commit, as on a full disk.
    if (nested) db.exec("ROLLBACK TO one_write; RELEASE one_write");
    if (error instanceof GuardFailed) return { id, guard: error.guard };
    return { id, failure: describe(error) };
  }
}

function run({ sql, values, returnsRows, mustChange, keep }: WriteStep): WriteOutcome {
  let statement = prepared.get(sql);
  if (statement === undefined) {
    statement = db.prepare(sql);
    statement.setReturnArrays(true);
    if (keep) prepared.set(sql, statement);
  }
  const bound = values as SQLInputValue[];
  const rows = returnsRows ? (statement.all(...bound) as unknown as SqlValue[][]) : [];
  const changes = returnsRows ? rows.length : Number(statement.run(...bound).changes);
  if (mustChange !== null && changes !== mustChange) throw new GuardFailed(mustChange, changes);
  return { changes, rows };
}

function describe(error: unknown): { message: string; errcode: number } {
  const { message, errcode = 0 } = error as Error & { errcode?: number };
  return { message, errcode };
}
