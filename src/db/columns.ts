/** The kinds of column: how a value of ours is kept by an engine, and read back. */
import assert from "node:assert/strict";
import type { SqlValue } from "./statement.ts";

export interface Column<T> {
  encode(value: T): SqlValue;
  decode(value: SqlValue): T;
}

export const text: Column<string> = {
  encode: (value) => value,
  decode: (value) => {
    assert(typeof value === "string");
    return value;
  },
};

/** Whole numbers within 2^53. */
export const integer: Column<number> = {
  encode: (value) => {
    assert(Number.isSafeInteger(value));
    return value;
  },
  decode: (value) => {
    assert(typeof value === "number");
    return value;
  },
};

/** A moment, in milliseconds since 1970. */
export const time: Column<number> = { ...integer };

export const bytes: Column<Uint8Array> = {
  encode: (value) => value,
  decode: (value) => {
    assert(value instanceof Uint8Array);
    return value;
  },
};

/** Data that is only ever read and written whole. */
export function json<T>(): Column<T> {
  return {
    encode: (value) => JSON.stringify(value),
    decode: (value) => JSON.parse(text.decode(value)) as T,
  };
}

/** The same, for what most rows have alike: the last value is kept and shared, never to be changed. */
export function sharedJson<T>(): Column<T> {
  const column = json<T>();
  let last: { readonly text: SqlValue; readonly value: T } | null = null;
  return {
    ...column,
    decode(text) {
      if (last?.text !== text) last = { text, value: column.decode(text) };
      return last.value;
    },
  };
}

/** Text that is one of a few words. */
export function word<W extends string>(): Column<W> {
  return text as unknown as Column<W>;
}

export function maybe<T>(column: Column<T>): Column<T | null> {
  return {
    encode: (value) => (value === null ? null : column.encode(value)),
    decode: (value) => (value === null ? null : column.decode(value)),
  };
}
