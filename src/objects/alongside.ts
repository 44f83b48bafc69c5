/** What is written in the same commit as a change of objects: it happens with the change, or not at all. */
import type { Bound } from "#db";
import type { Bucket, CameBy } from "./model.ts";
import type { ObjectRow } from "./object-rows.ts";

export type Change =
  /** An object is stored, of one body or of parts. */
  | { readonly kind: "put"; readonly row: ObjectRow; readonly cameBy?: CameBy | undefined }
  /** These keys are deleted, whether or not there is something. */
  | { readonly kind: "delete"; readonly keys: readonly string[]; readonly isExpiry?: boolean };

export interface Alongside {
  /**
   * The steps that go with a change. Those of a put are done behind its own, those of a delete before: so both
   * find the object's row. They may be asked for again when a write starts again.
   */
  steps(bucket: Bucket, change: Change): readonly Bound[];
  /** A change that had such steps is committed. */
  written(): void;
}

export const NOTHING_ALONGSIDE: readonly Bound[] = [];
