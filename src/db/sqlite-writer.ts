/**
 * The thread that writes to SQLite. Writes that arrive while the last commit reaches the disk
 * wait together and share the next one, so the cost of a sync is split between them.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { SqlValue } from "./statement.ts";
import { configureSqlite } from "./sqlite-settings.ts";
import { placeBytes } from "./write-requests.ts";

/** A statement that the thread is told of once; from then on it goes by its number, in the order of telling. */
export interface NewStatement {
  readonly sql: string;
  readonly takes: number;
  readonly returnsRows: boolean;
}

/** Writes that were asked for together; or one part of a large one, whose parts follow each other. */
export interface WriteMessage {
  readonly part: "all" | "more follow" | "last" | "never mind";
  readonly news: readonly NewStatement[];
  /** Of each write, and where its steps end. */
  readonly ids: readonly number[];
  readonly ends: readonly number[];
  /**
   * The steps, one after the other: the statement's number, how many rows it must change (or null),
   * and its values. Flat, for an import has a hundred thousand, and each object would be cloned.
   */
  readonly steps: SqlValue[];
  /** The values that are bytes, one after the other; for each its index among the steps, and where it ends. */
  readonly bytes: Uint8Array;
  readonly views: readonly number[];
}

/** Of a step: the rows it gave, or how many it changed. */
export type WriteOutcome = number | readonly (readonly SqlValue[])[];

export type Refusal = { readonly id: number } & (
  | { readonly guard: readonly [mustChange: number, changes: number] }
  | { readonly failure: { message: string; errcode: number } }
);

/** What came of the writes of a commit, flat as well. */
export interface WriteReply {
  readonly ids: number[];
  /** Of each write that happened: where its outcomes end. */
  readonly ends: number[];
  readonly outcomes: WriteOutcome[];
  readonly refused: Refusal[];
  /** How long the last commit took, most of it the sync. */
  readonly commitMs: number;
}

/** Room for the pages of a large write: what does not fit is written, read again and written again. */
const CACHE_KIBIBYTES = 16 * 1024;
/** Bounds how long the first write of a group waits for the last. */
const MAX_GROUP = 256;

/** A write, by where its steps are. */
interface Write {
  readonly id: number;
  readonly steps: readonly SqlValue[];
  readonly start: number;
  readonly end: number;
}

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
/** By number. Prepared at the first use, for a migration's need the tables of those before. */
const known: (NewStatement & { prepared?: StatementSync })[] = [];

port.on("message", (first: WriteMessage | "close") => {
  let group: Write[] = [];
  const finish = () => {
    if (group.length > 0) port.postMessage(write(group));
    group = [];
  };
  for (let next: WriteMessage | "close" | undefined = first; next !== undefined;) {
    if (next === "close") {
      finish();
      db.close();
      port.close();
      return;
    }
    for (const statement of next.news) known.push({ ...statement });
    placeBytes(next.steps, next);
    if (next.part === "all") {
      for (const one of writesOf(next)) if (group.push(one) === MAX_GROUP) finish();
    } else {
      finish();
      performPart(next);
    }
    next = receiveMessageOnPort(port)?.message as WriteMessage | "close" | undefined;
  }
  finish();
});
port.postMessage("open");

function writesOf({ ids, ends, steps }: WriteMessage): Write[] {
  return ids.map((id, i) => ({ id, steps, start: i === 0 ? 0 : ends[i - 1]!, end: ends[i]! }));
}

function write(group: readonly Write[]): WriteReply {
  return attempt(group, run) ?? attempt(group, runApart)!;
}

/**
 * Does a group in one commit. Null when one of several failed, and all were undone: most often none does, and
 * savepoints would cost each as much as a statement.
 */
function attempt(
  group: readonly Write[],
  perform: (write: Write, outcomes: WriteOutcome[]) => Refusal | void,
): WriteReply | null {
  const reply = { ids: [], ends: [], outcomes: [], refused: [] } as Omit<WriteReply, "commitMs">;
  try {
    begin.run();
    for (const one of group) {
      const refused = perform(one, reply.outcomes);
      if (refused !== undefined) {
        reply.refused.push(refused);
        continue;
      }
      reply.ids.push(one.id);
      reply.ends.push(reply.outcomes.length);
    }
    sync();
    return { ...reply, commitMs };
  } catch (error) {
    // Otherwise SQLite gave up on the whole commit, as on a full disk.
    const isOneToBlame = db.isTransaction && perform === run && group.length > 1;
    if (db.isTransaction) db.exec("ROLLBACK");
    if (isOneToBlame) return null;
    const refused = group.map(({ id }) => refusal(id, error));
    return { ids: [], ends: [], outcomes: [], refused, commitMs };
  }
}

let commitMs = 0;

function sync(): void {
  const began = performance.now();
  commit.run();
  commitMs = performance.now() - began;
}

/** One write inside the group's commit. What fails is undone alone; the others go on. */
function runApart(one: Write, outcomes: WriteOutcome[]): Refusal | void {
  const before = outcomes.length;
  savepoint.run();
  try {
    run(one, outcomes);
    release.run();
  } catch (error) {
    if (!db.isTransaction) throw error;
    db.exec("ROLLBACK TO one_write; RELEASE one_write");
    outcomes.length = before;
    return refusal(one.id, error);
  }
}

function run({ steps, start, end }: Write, outcomes: WriteOutcome[]): void {
  for (let at = start; at < end;) {
    const number = steps[at++] as number;
    const mustChange = steps[at++] as number | null;
    const statement = known[number]!;
    const prepared = (statement.prepared ??= prepare(statement));
    const values = steps.slice(at, (at += statement.takes)) as SQLInputValue[];
    const outcome = statement.returnsRows
      ? (prepared.all(...values) as unknown as SqlValue[][])
      : Number(prepared.run(...values).changes);
    const changes = typeof outcome === "number" ? outcome : outcome.length;
    if (mustChange !== null && changes !== mustChange) throw new GuardFailed(mustChange, changes);
    outcomes.push(outcome);
  }
}

function prepare({ sql }: NewStatement): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The large write whose parts are arriving, and why it failed, if it did. */
let large: { refused: Refusal | null } | null = null;

/** A part of a large write is done when it comes; the thread that makes them goes on meanwhile. */
function performPart({ part, ids: [id], steps }: WriteMessage): void {
  const attempt = (work: () => unknown): Refusal | null => {
    try {
      work();
      return null;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      return refusal(id!, error);
    }
  };
  large ??= { refused: attempt(() => begin.run()) };
  large.refused ??= attempt(() => run({ id: id!, steps, start: 0, end: steps.length }, []));
  if (part === "more follow") return;
  if (part === "last") {
    large.refused ??= attempt(sync);
    const [ids, ends, refused] =
      large.refused === null ? [[id!], [0], []] : [[], [], [large.refused]];
    port.postMessage({ ids, ends, outcomes: [], refused, commitMs } satisfies WriteReply);
  } else if (db.isTransaction) db.exec("ROLLBACK");
  large = null;
}

function refusal(id: number, error: unknown): Refusal {
  if (error instanceof GuardFailed) return { id, guard: error.guard };
  const { message, errcode = 0 } = error as Error & { errcode?: number };
  return { id, failure: { message, errcode } };
}
