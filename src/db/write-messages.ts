/** What SQLite's writer and the threads that write through it say to each other. */
import type { MessagePort } from "node:worker_threads";
import type { SqlValue } from "./statement.ts";

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

/** The port is that of another thread that writes. */
export type ToWriter = WriteMessage | { readonly port: MessagePort } | "close";

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
}
