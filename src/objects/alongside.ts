/** What is written in the same commit as a change of objects: it happens with the change, or not at all. */
import type { Bound } from "#db";
import type { Bucket } from "./model.ts";
import type { ObjectRow } from "./object-rows.ts";

export type Change =
  /** An object is stored, of one body or of parts. */
  | { readonly kind: "put"; readonly row: ObjectRow }
  /** These keys are deleted, whether or not there is something. */
  | { readonly kind: "delete"; readonly keys: readonly string[] };

/** The steps that go with a change, before its own. They may be asked for again when a write starts again. */
export type Alongside = (bucket: Bucket, change: Change) => readonly Bound[];

const NOTHING: readonly Bound[] = [];
export const nothingAlongside: Alongside = () => NOTHING;
