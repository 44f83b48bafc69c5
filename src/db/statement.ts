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
  const takes = Object.entries(spec.takes ?? {});
  const gives = Object.entries(spec.gives ?? {});
  const number = (prefix: string) => {
    return spec.sql.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
      const index = takes.findIndex(([taken]) => taken === name);
      if (index === -1)
        throw new Error(`:${name} is not among what the statement takes: ${spec.sql}`);
      return `${prefix}${index + 1}`;
    });
  };
  const text: StatementText = {
    name: `s${++statements}`,
    sqlite: number("?"),
    postgres: number("$"),
    returnsRows: gives.length > 0,
  };
  const decode = (row: readonly SqlValue[]) => {
    const result: Record<string, unknown> = {};
    for (let i = 0; i < gives.length; i++) {
      result[gives[i]![0]] = gives[i]![1].decode(row[i] ?? null);
    }
    return result as Shape<G>;
  };
  return (params) => ({
    text,
    values: takes.map(([name, column]) => column.encode(params[name])),
    mustChange: null,
    decode,
  });
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
