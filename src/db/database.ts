/** What every database engine owes the parts that keep data in it. */
import type { MessagePort } from "node:worker_threads";
import type { Bound, Scan, SqlValue } from "./statement.ts";

/**
 * Reads see everything that was written before they began. A write is a list of statements that
 * happen all or not at all, and it has reached the disk when its promise resolves. There are no
 * open transactions: what depends on an earlier read guards its write with `mustChangeOne` and
 * starts again when the guard fails. That lets SQLite put many writes into one commit, and lets a
 * distributed engine retry a write by itself.
 */
export interface Database extends AsyncDisposable {
  readonly engine: "sqlite" | "postgres";
  /** Whether other nodes may use it too, so that what this one has read may be old. */
  readonly shared: boolean;
  /** The engine's words for column types, for migrations. */
  readonly types: ColumnTypes;
  all<Row>(query: Bound<Row>): Promise<Row[]>;
  first<Row>(query: Bound<Row>): Promise<Row | null>;
  /**
   * Reads very many rows, in stretches between which others get their turn. All are of the moment
   * when the scan began; it ties up a connection until it ends or its loop is left.
   */
  scan<Row extends readonly SqlValue[]>(query: Scan<Row>): AsyncGenerator<Row[], void>;
  /** Bytes among the values must not be changed until it has resolved. */
  write<const S extends readonly Bound[]>(...steps: S): Promise<StepResults<S>>;
  /** The same for any number of steps, made as they are taken; nothing is told of each. */
  writeAll(steps: Iterable<Bound>): Promise<void>;
  /**
   * Tells the nodes that listen to the topic, this one among them, and waits for nothing. A signal may
   * be lost: it only makes sooner known what the tables hold.
   */
  signal(topic: string, message: string): void;
  /** Hears signals until it is disposed of. There are none where nobody else uses the database. */
  onSignal(topic: string, hear: (message: string) => void): Disposable;
  /** What another thread opens it with; null where that needs nothing of this one. That thread must end first. */
  portForThread(): MessagePort | null;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
}

export interface StepResult<Row = unknown> {
  readonly changes: number;
  /** What RETURNING gave, decoded; empty for statements without it. */
  readonly rows: readonly Row[];
}

/** A result for each step, in the steps' order. */
export type StepResults<S extends readonly Bound[]> = {
  -readonly [K in keyof S]: StepResult<S[K] extends Bound<infer Row> ? Row : never>;
};

export type DatabaseFaultKind =
  /** A row with that key is there already. */
  | "unique"
  /** A row names another that is not there, or is still named by others. */
  | "reference"
  /** A guarded statement did not change the one row it must. */
  | "guard"
  /** More writes wait than the queue holds. */
  | "busy"
  /** The disk is full; nothing was written. */
  | "full"
  /** The engine cannot be reached, or cannot write. */
  | "unavailable";

export class DatabaseFault extends Error {
  override readonly name = "DatabaseFault";
  readonly kind: DatabaseFaultKind;
  constructor(kind: DatabaseFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export function isDatabaseFault(error: unknown, kind: DatabaseFaultKind): boolean {
  return error instanceof DatabaseFault && error.kind === kind;
}

/** How often work starts again whose guard failed; each time some other write went through. */
const MAX_ATTEMPTS = 100;

/** Does work that reads and then writes under a guard, again from its read while the guard fails. */
export async function untilUndisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseFault(error, "guard") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** A column type by its meaning; each engine has its own word. */
export interface ColumnTypes {
  /** Text in the order of its bytes. */
  readonly text: string;
  readonly integer: string;
  readonly bytes: string;
  /** Ends the making of a table whose rows are to lie in the order of its primary key. */
  readonly inKeyOrder: string;
  /** In an ALTER TABLE that a step cut half-way can repeat. */
  readonly addColumn: string;
  /** A primary key that numbers the rows as they are added; no number comes twice. */
  readonly countedKey: string;
}

export function guardFault(mustChange: number, changes: number): DatabaseFault {
  return new DatabaseFault("guard", `The write must change ${mustChange} row and met ${changes}`);
}
