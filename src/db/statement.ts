/**
 * SQL written once, with the types of what it takes and what it gives. Both engines run the same
 * text: `:name` becomes `?1` for SQLite and `$1` for PostgreSQL.
 */
import type { Column } from "./columns.ts";

/** What a driver binds and returns: the values that both engines have. */
export type SqlValue = string | number | null | Uint8Array;

type Columns = Readonly<Record<string, Column<unknown>>>;
type Shape<C extends Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never;
};

export interface StatementText {
  /** Names the prepared statement on a PostgreSQL connection; null for what runs only once. */
  readonly name: string | null;
  readonly sqlite: string;
  readonly postgres: string;
  readonly returnsRows: boolean;
}

/** A statement with its values, ready to run. */
export interface Bound<Row = unknown> {
  readonly text: StatementText;
  readonly values: readonly SqlValue[];
  /** The whole write is undone unless the statement changes exactly this many rows. */
  readonly mustChange: number | null;
  readonly decode: (row: readonly SqlValue[]) => Row;
}

/** A statement for `Database.scan`, with its values. */
export interface Scan<Row extends readonly SqlValue[]> {
  readonly text: StatementText;
  readonly values: readonly SqlValue[];
  /** Never there: it carries the rows' type. */
  readonly row?: Row;
}

/** The type of the rows that a declared statement gives. */
export type RowOf<S extends (params: never) => Bound> =
  ReturnType<S> extends Bound<infer R> ? R : never;

export interface StatementSpec<T extends Columns, G extends Columns> {
  readonly sql: string;
  readonly takes?: T;
  /** The columns of the result, in the order the SQL lists them. */
  readonly gives?: G;
}

let statements = 0;

/** Declares a statement; the result is called with the parameters to bind them. */
export function statement<T extends Columns = {}, G extends Columns = {}>(
  spec: StatementSpec<T, G>,
): (params: Shape<T>) => Bound<Shape<G>> {
  const takes = Object.keys(spec.takes ?? {});
  const number = (prefix: string) => {
    return spec.sql.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
      const index = takes.indexOf(name);
      if (index === -1)
        throw new Error(`:${name} is not among what the statement takes: ${spec.sql}`);
      return `${prefix}${index + 1}`;
    });
  };
  const text: StatementText = {
    name: `s${++statements}`,
    sqlite: number("?"),
    postgres: number("$"),
    returnsRows: Object.keys(spec.gives ?? {}).length > 0,
  };
  const encode = encoderOf(spec.takes ?? ({} as T));
  const decode = decoderOf(spec.gives ?? ({} as G));
  return (params) => ({ text, values: encode(params), mustChange: null, decode });
}

/*
 * Rows pass through here by the hundred thousand. A loop over the columns would be the same code for
 * every statement, and its objects would grow key by key, which takes five times as long as the
 * literals that are written here. The keys come from declarations in our own code only.
 */

function encoderOf<T extends Columns>(takes: T): (params: Shape<T>) => SqlValue[] {
  const values = Object.keys(takes).map(
    (name, i) => `c${i}.encode(params[${JSON.stringify(name)}])`,
  );
  return withColumns(takes, `(params) => [${values.join()}]`);
}

function decoderOf<G extends Columns>(gives: G): (row: readonly SqlValue[]) => Shape<G> {
  const fields = Object.keys(gives).map(
    (name, i) => `${JSON.stringify(name)}: c${i}.decode(row[${i}])`,
  );
  return withColumns(gives, `(row) => ({ ${fields.join()} })`);
}

/** The function that this text is, in which `c0` and so on are the columns. */
function withColumns(columns: Columns, text: string): never {
  const names = Object.keys(columns).map((_, i) => `c${i}`);
  // oxlint-disable-next-line typescript/no-implied-eval -- See above: our own text, and five times as fast.
  return new Function(...names, `return ${text}`)(...Object.values(columns)) as never;
}

/**
 * Declares a statement for `Database.scan`: its rows stay the arrays that the driver made, since a
 * million of them pay for every object. `Row` names the columns in the order the SQL lists them.
 */
export function scanStatement<Row extends readonly SqlValue[]>() {
  return <T extends Columns = {}>(
    spec: Pick<StatementSpec<T, {}>, "sql" | "takes">,
  ): ((params: Shape<T>) => Scan<Row>) => {
    const bind = statement<T>(spec);
    return (params) => bind(params);
  };
}

/** Guards a write: unless the statement changes exactly one row, nothing of the write happens. */
export function mustChangeOne<Row>(bound: Bound<Row>): Bound<Row> {
  return { ...bound, mustChange: 1 };
}

/** SQL that runs once and takes no values: a migration's. */
export function rawStatement(sql: string): Bound<never> {
  return {
    text: { name: null, sqlite: sql, postgres: sql, returnsRows: false },
    values: [],
    mustChange: null,
    decode: () => {
      throw new Error("A raw statement gives no rows");
    },
  };
}
