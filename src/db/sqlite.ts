/** SQLite in the data folder: reads on the caller's thread, writes on a thread of their own. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import {
  DatabaseFault,
  guardFault,
  type ColumnTypes,
  type Database,
  type StepResult,
  type StepResults,
} from "./database.ts";
import { configureSqlite } from "./sqlite-settings.ts";
import type { WriteOutcome, WriteReply } from "./sqlite-writer.ts";
import type { Bound, Scan, SqlValue, StatementText } from "./statement.ts";
import { WriteRequests } from "./write-requests.ts";

const types: ColumnTypes = {
  text: "TEXT",
  integer: "INTEGER",
  bytes: "BLOB",
  inKeyOrder: "WITHOUT ROWID",
};

/** At some ten thousand commits a second this is a second of work; more would only add waiting. */
const MAX_WAITING_WRITES = 20_000;

/** Rows that a scan reads at a time: a millisecond or two in which the thread does nothing else. */
const STRETCH = 1_024;
/** A scan jumps from an index to rows all over the file: mapped, a jump costs no system call. */
const MAPPED_BYTES = 64 * 1024 ** 3;

/** What the reader keeps of the file. A list that jumps from group to group touches a thousand pages, twice the default. */
const CACHE_KIB = 16 * 1024;

/** SQLite's extended result codes for a key that exists: SQLITE_CONSTRAINT_UNIQUE, …_PRIMARYKEY. */
const UNIQUE_CODES = new Set([2067, 1555]);
/** SQLITE_CONSTRAINT_FOREIGNKEY. */
const REFERENCE_CODE = 787;
/** SQLITE_FULL. The log takes a commit's mark last, so one that has no room is not in it. */
const FULL_CODE = 13;

interface Waiting {
  resolve(outcomes: readonly WriteOutcome[]): void;
  reject(fault: DatabaseFault): void;
}

/** Opens or makes the database file. */
export async function openSqlite(path: string): Promise<Database> {
  const writer = await startWriter(path).catch((cause: Error) => {
    throw new Error(`Cannot open the database ${path} (--database): ${cause.message}.`, { cause });
  });
  const reader = new DatabaseSync(path);
  configureSqlite(reader);
  reader.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  return new SqliteDatabase(path, reader, writer);
}

function startWriter(path: string): Promise<Worker> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./sqlite-writer.${extension}`, import.meta.url), {
    workerData: { path },
    name: "sqlite-writer",
  });
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", () => {
      worker.off("error", reject);
      resolve(worker);
    });
  });
}

class SqliteDatabase implements Database {
  readonly engine = "sqlite";
  readonly shared = false;
  readonly types = types;
  readonly #path: string;
  readonly #reader: DatabaseSync;
  readonly #writer: Worker;
  readonly #prepared = new Map<StatementText, StatementSync>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #requests = new WriteRequests();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #closed = false;

  constructor(path: string, reader: DatabaseSync, writer: Worker) {
    this.#path = path;
    this.#reader = reader;
    this.#writer = writer;
    const exit = Promise.withResolvers<void>();
    this.#exited = exit.promise;
    writer.on("message", (replies: WriteReply[]) =>
      replies.forEach((reply) => this.#settle(reply)),
    );
    writer.on("error", (error) => this.#failAll(error));
    writer.on("exit", () => {
      this.#failAll(new Error("The writer thread has ended"));
      exit.resolve();
    });
    writer.unref(); // A program may end when nothing waits to be written.
  }

  async all<Row>(query: Bound<Row>): Promise<Row[]> {
    const rows = this.#prepare(query).all(...(query.values as SQLInputValue[]));
    return (rows as unknown as SqlValue[][]).map(query.decode);
  }

  async first<Row>(query: Bound<Row>): Promise<Row | null> {
    const row = this.#prepare(query).get(...(query.values as SQLInputValue[]));
    return row === undefined ? null : query.decode(row as unknown as SqlValue[]);
  }

  /** On a connection of its own: another's reads would be held at the moment when the scan began. */
  async *scan<Row extends readonly SqlValue[]>(query: Scan<Row>): AsyncGenerator<Row[], void> {
    this.#mustBeOpen();
    using connection = new DatabaseSync(this.#path, { readOnly: true });
    connection.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
    const statement = connection.prepare(query.text.sqlite);
    statement.setReturnArrays(true);
    let stretch: Row[] = [];
    for (const row of statement.iterate(...(query.values as SQLInputValue[]))) {
      stretch.push(row as unknown as Row);
      if (stretch.length < STRETCH) continue;
      yield stretch;
      stretch = [];
      await new Promise(setImmediate);
      this.#mustBeOpen();
    }
    if (stretch.length > 0) yield stretch;
  }

  async write<const S extends readonly Bound[]>(...steps: S): Promise<StepResults<S>> {
    const outcomes = await this.#write((id) => {
      this.#writer.postMessage(this.#requests.whole(id, steps));
    });
    return outcomes.map((outcome, i) => resultOf(steps[i]!, outcome)) as StepResults<S>;
  }

  async writeAll(steps: Iterable<Bound>): Promise<void> {
    await this.#write((id) => {
      let begun = false;
      try {
        for (const part of this.#requests.parts(id, steps)) {
          this.#writer.postMessage(part);
          begun = true;
        }
      } catch (error) {
        if (begun) this.#writer.postMessage({ id, part: "never mind", news: [], steps: [] });
        throw error;
      }
    });
  }

  signal(): void {}

  onSignal(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  async ping(): Promise<void> {
    this.#mustBeOpen();
    this.#reader.exec("SELECT 1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writer.ref();
    if (!this.#closed) this.#writer.postMessage("close"); // Behind every write that waits.
    this.#closed = true;
    await this.#exited;
    if (this.#reader.isOpen) this.#reader.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new DatabaseFault("unavailable", "The database is closed");
  }

  #prepare({ text }: Bound): StatementSync {
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      statement = this.#reader.prepare(text.sqlite);
      statement.setReturnArrays(true);
      this.#prepared.set(text, statement);
    }
    return statement;
  }

  /** Hands a write over, under a number of its own, and waits for what comes of it. */
  async #write(post: (id: number) => void): Promise<readonly WriteOutcome[]> {
    this.#mustBeOpen();
    if (this.#waiting.size >= MAX_WAITING_WRITES) {
      throw new DatabaseFault("busy", `${MAX_WAITING_WRITES} writes are waiting for the disk`);
    }
    const id = ++this.#lastId;
    post(id);
    const { promise, resolve, reject } = Promise.withResolvers<readonly WriteOutcome[]>();
    if (this.#waiting.size === 0) this.#writer.ref();
    this.#waiting.set(id, { resolve, reject });
    return promise;
  }

  #settle(reply: WriteReply): void {
    const waiting = this.#waiting.get(reply.id)!;
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#writer.unref();
    if ("guard" in reply) waiting.reject(guardFault(...reply.guard));
    else if ("failure" in reply) waiting.reject(faultOf(reply.failure));
    else waiting.resolve(reply.outcomes);
  }

  #failAll(cause: unknown): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new DatabaseFault("unavailable", "The database stopped writing", { cause }));
    }
    this.#waiting.clear();
  }
}

function resultOf({ decode }: Bound, outcome: WriteOutcome): StepResult {
  return typeof outcome === "number"
    ? { changes: outcome, rows: [] }
    : { changes: outcome.length, rows: outcome.map(decode) };
}

function faultOf({ message, errcode }: { message: string; errcode: number }): DatabaseFault {
  if (UNIQUE_CODES.has(errcode)) return new DatabaseFault("unique", message);
  if (errcode === REFERENCE_CODE) return new DatabaseFault("reference", message);
  if (errcode === FULL_CODE) return new DatabaseFault("full", message);
  return new DatabaseFault("unavailable", `SQLite: ${message} (code ${errcode})`);
}
