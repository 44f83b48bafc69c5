/** SQLite in the data folder: reads on the caller's thread, writes on a thread of their own. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import {
  DatabaseFault,
  guardFault,
  type ColumnTypes,
  type Database,
  type StepResult,
  type StepResults,
} from "./database.ts";
import { configureSqlite } from "./sqlite-settings.ts";
import { startWriter, type Writer, writerBehind } from "./sqlite-writer-end.ts";
import type { Bound, Scan, SqlValue, StatementText } from "./statement.ts";
import type { WriteMessage, WriteOutcome, WriteReply } from "./write-messages.ts";
import { WriteRequests } from "./write-requests.ts";

const types: ColumnTypes = {
  text: "TEXT",
  integer: "INTEGER",
  bytes: "BLOB",
  inKeyOrder: "WITHOUT ROWID",
  addColumn: "ADD COLUMN", // It has no IF NOT EXISTS, and needs none: its DDL is part of the transaction.
  countedKey: "INTEGER PRIMARY KEY AUTOINCREMENT",
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

/**
 * So many make a commit worth its sync. What comes while the writer is at it goes into its next one, so it is no
 * bound: of 32 puts at a time more than half as many again are done, of 200 and of one as many.
 */
const ENOUGH_WRITES = 16;

interface Waiting {
  readonly steps: readonly Bound[];
  readonly resolve: (results: StepResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens or makes the database file; with the port that another thread's database has given, what that has open. */
export async function openSqlite(path: string, port?: MessagePort): Promise<Database> {
  const writer = port === undefined ? await startWriter(path) : writerBehind(port);
  const reader = new DatabaseSync(path);
  configureSqlite(reader);
  reader.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  return new SqliteDatabase(path, reader, writer);
}

class SqliteDatabase implements Database {
  readonly engine = "sqlite";
  readonly shared = false;
  readonly types = types;
  readonly #path: string;
  readonly #reader: DatabaseSync;
  readonly #writer: Writer["port"];
  readonly #prepared = new Map<StatementText, StatementSync>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #requests = new WriteRequests();
  readonly #writerEnded: Promise<unknown>;
  #sending: NodeJS.Immediate | null = null;
  #lastId = 0;
  #closed = false;

  constructor(path: string, reader: DatabaseSync, { port, ended }: Writer) {
    this.#path = path;
    this.#reader = reader;
    this.#writer = port;
    this.#writerEnded = ended.then((cause) => this.#failAll(cause));
    port.on("message", (reply: WriteReply) => this.#settle(reply));
    port.unref(); // A program may end when nothing waits to be written.
  }

  async all<Row>(query: Bound<Row>): Promise<Row[]> {
    const rows = this.#ask(query, "all") as SqlValue[][];
    return rows.map(query.decode);
  }

  async first<Row>(query: Bound<Row>): Promise<Row | null> {
    const row = this.#ask(query, "get") as SqlValue[] | undefined;
    return row === undefined ? null : query.decode(row);
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

  write<const S extends readonly Bound[]>(...steps: S): Promise<StepResults<S>> {
    return this.#wait(steps, (id) => this.#requests.add(id, steps)) as Promise<StepResults<S>>;
  }

  async writeAll(steps: Iterable<Bound>): Promise<void> {
    await this.#wait([], (id) => {
      let isBegun = false;
      try {
        for (const message of this.#requests.addAll(id, steps)) {
          this.#post(message);
          isBegun = true;
        }
      } catch (error) {
        if (isBegun) this.#post(this.#requests.giveUp(id));
        throw error;
      }
    });
  }

  signal(): void {}

  onSignal(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  portForThread(): MessagePort {
    this.#mustBeOpen();
    const { port1, port2 } = new MessageChannel();
    this.#writer.postMessage({ port: port1 }, [port1]);
    return port2;
  }

  async ping(): Promise<void> {
    this.#mustBeOpen();
    this.#reader.exec("SELECT 1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writer.ref();
    this.#send();
    if (!this.#closed) this.#writer.postMessage("close"); // Behind every write that waits.
    this.#closed = true;
    await this.#writerEnded;
    if (this.#reader.isOpen) this.#reader.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new DatabaseFault("unavailable", "The database is closed");
  }

  #ask(query: Bound, what: "all" | "get"): unknown {
    try {
      return this.#prepare(query)[what](...(query.values as SQLInputValue[]));
    } catch (error) {
      throw faultOf(error as SqliteError);
    }
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

  /** Has a write asked for, under a number of its own, and waits for what comes of it. */
  #wait(steps: readonly Bound[], ask: (id: number) => void): Promise<StepResult[]> {
    return new Promise((resolve, reject) => {
      this.#mustBeOpen();
      if (this.#waiting.size >= MAX_WAITING_WRITES) {
        throw new DatabaseFault("busy", `${MAX_WAITING_WRITES} writes are waiting for the disk`);
      }
      const id = ++this.#lastId;
      ask(id);
      if (this.#waiting.size === 0) this.#writer.ref();
      this.#waiting.set(id, { steps, resolve, reject });
      this.#sendSoon();
    });
  }

  /**
   * Writes are gathered until all that happens now has happened, so that they share a commit; but with enough for
   * one it is better that the writer begins, while the next are made.
   */
  #sendSoon(): void {
    if (this.#requests.size >= ENOUGH_WRITES) this.#send();
    else this.#sending ??= setImmediate(() => this.#send());
  }

  #send(): void {
    if (this.#sending !== null) clearImmediate(this.#sending);
    this.#sending = null;
    if (this.#requests.size > 0) this.#post(this.#requests.take());
  }

  #post(message: WriteMessage): void {
    this.#writer.postMessage(message, [message.bytes.buffer as ArrayBuffer]);
  }

  #settle({ ids, ends, outcomes, refused }: WriteReply): void {
    let at = 0;
    ids.forEach((id, i) => {
      const { steps, resolve, reject } = this.#settled(id);
      const start = at;
      at = ends[i]!;
      try {
        resolve(steps.map((step, n) => resultOf(step, outcomes[start + n]!)));
      } catch (error) {
        reject(error); // A row that is not as declared is the trouble of who asked for it alone.
      }
    });
    for (const one of refused) {
      this.#settled(one.id).reject(
        "guard" in one ? guardFault(...one.guard) : faultOf(one.failure),
      );
    }
  }

  #settled(id: number): Waiting {
    const waiting = this.#waiting.get(id)!;
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#writer.unref();
    return waiting;
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

/** What SQLite throws, or what the writer tells of it. */
interface SqliteError {
  readonly message: string;
  readonly errcode?: number;
}

function faultOf({ message, errcode = 0 }: SqliteError): DatabaseFault {
  if (UNIQUE_CODES.has(errcode)) return new DatabaseFault("unique", message);
  if (errcode === REFERENCE_CODE) return new DatabaseFault("reference", message);
  if (errcode === FULL_CODE) return new DatabaseFault("full", message);
  return new DatabaseFault("unavailable", `SQLite: ${message} (code ${errcode})`);
}
