/**
 * The thread that writes to SQLite. Writes that arrive while the last commit reaches the disk
 * wait together and share the next one, so the cost of a sync is split between them.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { SqlValue } from "./statement.ts";
import { configureSqlite } from "./sqlite-settings.ts";

/** A statement that the thread is told of once; from then on it goes by its number. */
export interface NewStatement {
  readonly number: number;
  readonly sql: string;
  readonly takes: number;
  readonly returnsRows: boolean;
}

/** A write, or a part of a large one, whose parts follow each other with nothing in between. */
export interface WriteRequest {
  readonly id: number;
  readonly part: "all" | "more follow" | "last" | "never mind";
  readonly news: readonly NewStatement[];
  /**
   * The steps, one after the other: the statement's number, how many rows it must change (or null),
   * and its values. Flat, for an import has a hundred thousand, and each object would be cloned.
   */
  readonly steps: readonly SqlValue[];
}

/** Of a step: the rows it gave, or how many it changed. */
export type WriteOutcome = number | readonly (readonly SqlValue[])[];

export type WriteReply =
  | { readonly id: number; readonly outcomes: readonly WriteOutcome[] }
  | { readonly id: number; readonly guard: readonly [mustChange: number, changes: number] }
  | { readonly id: number; readonly failure: { message: string; errcode: number } };

/** Room for the pages of a large write: what does not fit is written, read again and written again. */
const CACHE_KIBIBYTES = 16 * 1024;
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
db.exec(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
const [begin, commit, savepoint, release] = [
  "BEGIN IMMEDIATE",
  "COMMIT",
  "SAVEPOINT one_write",
  "RELEASE one_write",
].map((sql) => db.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync];
/** By number, both. Prepared at the first use, for a migration's need the tables of those before. */
const known = new Map<number, NewStatement>();
const prepared = new Map<number, StatementSync>();

port.on("message", (first: WriteRequest | "close") => {
  let group: WriteRequest[] = [];
  const finish = () => {
    if (group.length > 0)
      port.postMessage(group.length === 1 ? [writeAlone(group[0]!)] : write(group));
    group = [];
  };
  for (let next: WriteRequest | "close" | undefined = first; next !== undefined;) {
    if (next === "close") {
      finish();
      db.close();
      port.close();
      return;
    }
    for (const statement of next.news) known.set(statement.number, statement);
    if (next.part === "all") group.push(next);
    if (next.part !== "all" || group.length === MAX_GROUP) finish();
    if (next.part !== "all") performPart(next);
    next = receiveMessageOnPort(port)?.message as WriteRequest | "close" | undefined;
  }
  finish();
});
port.postMessage("open");

function write(group: readonly WriteRequest[]): WriteReply[] {
  try {
    begin.run();
    const replies = group.map(perform);
    commit.run();
    return replies;
  } catch (error) {
    return group.map((request) => undone(request, error));
  }
}

/** Needs no savepoint: what fails is rolled back. */
function writeAlone(request: WriteRequest): WriteReply {
  try {
    begin.run();
    const outcomes = run(request);
    commit.run();
    return { id: request.id, outcomes };
  } catch (error) {
    return undone(request, error);
  }
}

/** The large write whose parts are arriving, and why it failed, if it did. */
let large: { refusal: WriteReply | null } | null = null;

/** A part of a large write is done when it comes; the thread that makes them goes on meanwhile. */
function performPart(request: WriteRequest): void {
  const attempt = (work: () => unknown): WriteReply | null => {
    try {
      work();
      return null;
    } catch (error) {
      return undone(request, error);
    }
  };
  large ??= { refusal: attempt(() => begin.run()) };
  large.refusal ??= attempt(() => run(request));
  if (request.part === "more follow") return;
  if (request.part === "last") {
    large.refusal ??= attempt(() => commit.run());
    port.postMessage([large.refusal ?? { id: request.id, outcomes: [] }]);
  } else undone(request, new Error("It was given up"));
  large = null;
}

/** One write inside the group's commit. What fails is undone alone; the others go on. */
function perform(request: WriteRequest): WriteReply {
  savepoint.run();
  try {
    const outcomes = run(request);
    release.run();
    return { id: request.id, outcomes };
  } catch (error) {
    if (!db.isTransaction) throw error; // SQLite gave up on the whole commit, as on a full disk.
    db.exec("ROLLBACK TO one_write; RELEASE one_write");
    return refusal(request, error);
  }
}

function run({ steps }: WriteRequest): WriteOutcome[] {
  const outcomes: WriteOutcome[] = [];
  for (let at = 0; at < steps.length;) {
    const number = steps[at++] as number;
    const mustChange = steps[at++] as number | null;
    const { takes, returnsRows } = known.get(number)!;
    const values = steps.slice(at, (at += takes)) as SQLInputValue[];
    const outcome = returnsRows
      ? (statementOf(number).all(...values) as unknown as SqlValue[][])
      : Number(statementOf(number).run(...values).changes);
    const changes = typeof outcome === "number" ? outcome : outcome.length;
    if (mustChange !== null && changes !== mustChange) throw new GuardFailed(mustChange, changes);
    outcomes.push(outcome);
  }
  return outcomes;
}

function statementOf(number: number): StatementSync {
  let statement = prepared.get(number);
  if (statement === undefined) {
    statement = db.prepare(known.get(number)!.sql);
    statement.setReturnArrays(true);
    prepared.set(number, statement);
  }
  return statement;
}

/** Rolls back what is open, and tells why. */
function undone(request: WriteRequest, error: unknown): WriteReply {
  if (db.isTransaction) db.exec("ROLLBACK");
  return refusal(request, error);
}

function refusal({ id }: WriteRequest, error: unknown): WriteReply {
  return error instanceof GuardFailed
    ? { id, guard: error.guard }
    : { id, failure: describe(error) };
}

function describe(error: unknown): { message: string; errcode: number } {
  const { message, errcode = 0 } = error as Error & { errcode?: number };
  return { message, errcode };
}
