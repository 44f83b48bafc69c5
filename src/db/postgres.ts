/** PostgreSQL, or an engine that speaks its protocol, shared by many nodes. */
import pg from "pg";
import { redactUrl } from "#kit/redact.ts";
import {
  DatabaseFault,
  guardFault,
  type ColumnTypes,
  type Database,
  type StepResult,
  type StepResults,
} from "./database.ts";
import { PostgresSignals } from "./postgres-signals.ts";
import type { Bound, Scan, SqlValue } from "./statement.ts";

/** The C collation orders by bytes, as SQLite does, whatever the server's locale. */
const types: ColumnTypes = {
  text: 'TEXT COLLATE "C"',
  integer: "BIGINT",
  bytes: "BYTEA",
  inKeyOrder: "", // Rows lie where there is room.
  addColumn: "ADD COLUMN IF NOT EXISTS",
};

/** CockroachDB has no such collation, and orders by bytes without being told. */
const cockroachTypes: ColumnTypes = { ...types, text: "TEXT" };

/** Connections of one node. A server takes some hundred in all, and a few keep it busy. */
const MAX_CONNECTIONS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that says nothing for so long will not; the largest import takes a fraction of it. */
const QUERY_TIMEOUT_MS = 30_000;
/** Rows that a scan asks for at a time: enough that the way there and back does not count. */
const STRETCH = 4_096;
/** At a stop, connections that do not end by themselves are left behind after this. */
const END_TIMEOUT_MS = 5_000;
/** How often a write starts again when the engine asks for it. */
const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 5;

/** serialization_failure and deadlock_detected: nothing has happened, try again. */
const TRY_AGAIN = new Set(["40001", "40P01"]);
/** unique_violation; and duplicate_object and duplicate_table, for what a migration creates. */
const THERE_ALREADY = new Set(["23505", "42710", "42P07"]);
/** foreign_key_violation. */
const BROKEN_REFERENCE = "23503";
const DISK_FULL = "53100";

/** PostgreSQL's number for the type BIGINT. */
const BIGINT = 20;

/** The driver would give BIGINT as text; ours stay within 2^53, as on SQLite. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: "text" | "binary") =>
  type === BIGINT && format !== "binary" ? Number : pg.types.getTypeParser(type, format);

export async function openPostgres(
  url: string,
  onError: (error: Error) => void,
): Promise<Database> {
  const client: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: "selvedge",
    keepAlive: true,
    types: { getTypeParser },
  };
  const pool = new pg.Pool({ ...client, max: MAX_CONNECTIONS });
  // A connection that dies while idle is replaced by the next query; it only has to be known.
  pool.on("error", onError);
  try {
    const { rows } = await pool.query<{ version: string }>("SELECT version()");
    const isCockroach = rows[0]?.version.includes("CockroachDB") === true;
    const signals = new PostgresSignals({ pool, client, onLost: onError });
    return new PostgresDatabase(pool, isCockroach ? cockroachTypes : types, signals);
  } catch (cause) {
    await pool.end();
    const why = redactUrl((cause as Error).message);
    const message = `Cannot reach the database ${redactUrl(url)}: ${why}`;
    throw new DatabaseFault("unavailable", message, { cause });
  }
}

class PostgresDatabase implements Database {
  readonly engine = "postgres";
  readonly shared = true;
  readonly types: ColumnTypes;
  readonly #pool: pg.Pool;
  readonly #signals: PostgresSignals;

  constructor(pool: pg.Pool, types: ColumnTypes, signals: PostgresSignals) {
    this.#pool = pool;
    this.types = types;
    this.#signals = signals;
  }

  async all<Row>(query: Bound<Row>): Promise<Row[]> {
    const { rows } = await this.#guarded(() => run(this.#pool, query));
    return rows.map(query.decode);
  }

  async first<Row>(query: Bound<Row>): Promise<Row | null> {
    return (await this.all(query))[0] ?? null;
  }

  async *scan<Row extends readonly SqlValue[]>(query: Scan<Row>): AsyncGenerator<Row[], void> {
    const client = await this.#guarded(() => this.#pool.connect());
    let isWhole = false;
    try {
      const ask = (text: string, values: readonly SqlValue[] = []) =>
        this.#guarded(() => client.query({ text, values: [...values], rowMode: "array" }));
      await ask("BEGIN READ ONLY");
      await ask(`DECLARE scan NO SCROLL CURSOR FOR ${query.text.postgres}`, query.values);
      for (;;) {
        const { rows } = await ask(`FETCH ${STRETCH} FROM scan`);
        if (rows.length > 0) yield rows as unknown as Row[];
        if (rows.length < STRETCH) break;
      }
      await ask("COMMIT");
      isWhole = true;
    } finally {
      client.release(!isWhole); // A scan that was left or broken takes its connection along.
    }
  }

  async write<const S extends readonly Bound[]>(...steps: S): Promise<StepResults<S>> {
    return (await this.#write(steps)) as StepResults<S>;
  }

  async writeAll(steps: Iterable<Bound>): Promise<void> {
    await this.#write([...steps]); // Kept, for they may have to be written again.
  }

  async #write(steps: readonly Bound[]): Promise<StepResult[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#guarded(() => this.#writeOnce(steps));
      } catch (error) {
        const code = ((error as Error).cause as { code?: string } | undefined)?.code ?? "";
        if (!TRY_AGAIN.has(code) || attempt === MAX_ATTEMPTS) throw error;
        const pause = FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random());
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  signal(topic: string, message: string): void {
    this.#signals.send(topic, message);
  }

  onSignal(topic: string, hear: (message: string) => void): Disposable {
    return this.#signals.hear(topic, hear);
  }

  async ping(): Promise<void> {
    await this.#guarded(() => this.#pool.query("SELECT 1"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signals[Symbol.dispose]();
    const late = new Promise<void>((resolve) => setTimeout(resolve, END_TIMEOUT_MS).unref());
    await Promise.race([this.#pool.end(), late]);
  }

  async #writeOnce(steps: readonly Bound[]): Promise<StepResult[]> {
    const [only] = steps;
    if (steps.length === 1 && only!.mustChange === null) {
      return [resultOf(only!, await run(this.#pool, only!))];
    }
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query("BEGIN");
      const results: StepResult[] = [];
      for (const step of steps) {
        const result = resultOf(step, await run(client, step));
        if (step.mustChange !== null && result.changes !== step.mustChange) {
          throw guardFault(step.mustChange, result.changes);
        }
        results.push(result);
      }
      await client.query("COMMIT");
      return results;
    } catch (error) {
      await client.query("ROLLBACK").catch((cause: Error) => {
        broken = cause; // The pool must not hand this connection out again.
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Turns what the driver throws into our faults. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof DatabaseFault) throw cause;
      const { code, message } = cause as Error & { code?: string };
      if (THERE_ALREADY.has(code ?? "")) throw new DatabaseFault("unique", message, { cause });
      if (code === BROKEN_REFERENCE) throw new DatabaseFault("reference", message, { cause });
      if (code === DISK_FULL) throw new DatabaseFault("full", message, { cause });
      throw new DatabaseFault("unavailable", `PostgreSQL: ${message} (${code ?? "no code"})`, {
        cause,
      });
    }
  }
}

interface ArrayResult {
  readonly rows: SqlValue[][];
  readonly rowCount: number | null;
}

function run(target: pg.Pool | pg.PoolClient, { text, values }: Bound): Promise<ArrayResult> {
  return target.query({
    ...(text.name !== null && { name: text.name }),
    text: text.postgres,
    values: values as SqlValue[],
    rowMode: "array",
  });
}

function resultOf(step: Bound, { rows, rowCount }: ArrayResult): StepResult {
  return {
    changes: rowCount ?? 0,
    rows: step.text.returnsRows ? rows.map((row) => step.decode(row)) : [],
  };
}
