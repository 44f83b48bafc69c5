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
import type { WriteReply, WriteRequest } from "./sqlite-writer.ts";
import type { Bound, SqlValue } from "./statement.ts";

const types: ColumnTypes = { text: "TEXT", integer: "INTEGER", bytes: "BLOB" };

/** At some ten thousand commits a second this is a second of work; more would only add waiting. */
const MAX_WAITING_WRITES = 20_000;

/** SQLite's extended result codes for a key that exists: SQLITE_CONSTRAINT_UNIQUE, …_PRIMARYKEY. */
const UNIQUE_CODES = new Set([2067, 1555]);

interface Waiting {
  readonly steps: readonly Bound[];
  resolve(results: StepResult[]): void;
  reject(fault: DatabaseFault): void;
}

/** Opens or makes the database file. */
export async function openSqlite(path: string): Promise<Database> {
  const writer = await startWriter(path).catch((cause: Error) => {
    throw new Error(`Cannot open the database ${path} (--database): ${cause.message}.`, { cause });
  });
  const reader = new DatabaseSync(path);
  configureSqlite(reader);
  return new SqliteDatabase(reader, writer);
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
  readonly types = types;
  readonly #reader: DatabaseSync;
  readonly #writer: Worker;
  readonly #prepared = new Map<string, StatementSync>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #closed = false;

  constructor(reader: DatabaseSync, writer: Worker) {
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
  }

  async all<Row>(query: Bound<Row>): Promise<Row[]> {
    return this.#select(query);
  }

  async first<Row>(query: Bound<Row>): Promise<Row | null> {
    return this.#select(query)[0] ?? null;
  }

  async write<const S extends readonly Bound[]>(...steps: S): Promise<StepResults<S>> {
    if (this.#closed) throw new DatabaseFault("unavailable", "The database is closed");
    if (this.#waiting.size >= MAX_WAITING_WRITES) {
      throw new DatabaseFault("busy", `${MAX_WAITING_WRITES} writes are waiting for the disk`);
    }
    const id = ++this.#lastId;
    const request: WriteRequest = {
      id,
      steps: steps.map(({ text, values, mustChange }) => ({
        sql: text.sqlite,
        values,
        returnsRows: text.returnsRows,
        mustChange,
        keep: text.name !== null,
      })),
    };
    const done = Promise.withResolvers<StepResult[]>();
    this.#waiting.set(id, { steps, resolve: done.resolve, reject: done.reject });
    this.#writer.postMessage(request);
    return done.promise as Promise<StepResults<S>>;
  }

  async ping(): Promise<void> {
    if (this.#closed) throw new DatabaseFault("unavailable", "The database is closed");
    this.#reader.exec("SELECT 1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) this.#writer.postMessage("close"); // Behind every write that waits.
    this.#closed = true;
    await this.#exited;
    if (this.#reader.isOpen) this.#reader.close();
  }

  #select<Row>({ text, values, decode }: Bound<Row>): Row[] {
    let statement = this.#prepared.get(text.sqlite);
    if (statement === undefined) {
      statement = this.#reader.prepare(text.sqlite);
      statement.setReturnArrays(true);
      this.#prepared.set(text.sqlite, statement);
    }
    const rows = statement.all(...(values as SQLInputValue[])) as unknown as SqlValue[][];
    return rows.map(decode);
  }

  #settle(reply: WriteReply): void {
    const waiting = this.#waiting.get(reply.id)!;
    this.#waiting.delete(reply.id);
    if ("guard" in reply) waiting.reject(guardFault(...reply.guard));
    else if ("failure" in reply) waiting.reject(faultOf(reply.failure));
    else {
      waiting.resolve(
        reply.outcomes.map(({ changes, rows }, i) => ({
          changes,
          rows: rows.map((row) => waiting.steps[i]!.decode(row)),
        })),
      );
    }
  }

  #failAll(cause: unknown): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new DatabaseFault("unavailable", "The database stopped writing", { cause }));
    }
    this.#waiting.clear();
  }
}

function faultOf({ message, errcode }: { message: string; errcode: number }): DatabaseFault {
  return UNIQUE_CODES.has(errcode)
    ? new DatabaseFault("unique", message)
    : new DatabaseFault("unavailable", `SQLite: ${message} (code ${errcode})`);
}
