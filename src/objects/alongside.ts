/** What is written in the same commit as a change of objects: it happens with the change, or not at all. */
import type { Bound } from "#db";
import type { Bucket, CameBy } from "./model.ts";
import type { ObjectRow } from "./object-rows.ts";

/** An object is stored, of one body or of parts. */
export interface Put {
  readonly kind: "put";
  readonly row: ObjectRow;
  readonly cameBy?: CameBy | undefined;
}

export type Change =
  | Put
  /** Those of these keys that are there are deleted: their rows have the mark as their version. */
  | {
      readonly kind: "delete";
      readonly keys: readonly string[];
      readonly mark: string;
      readonly isExpiry: boolean;
    };

export interface Alongside {
  /**
   * The steps that go with a change. They are done when the change holds the rows of its objects, and those of a
   * delete before the rows are gone. They may be asked for again when a write starts again.
   */
  steps(bucket: Bucket, change: Change): readonly Bound[];
  /** A change of the bucket is committed. */
  written(bucket: Bucket): void;
}
