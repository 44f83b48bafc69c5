/** A place to keep bytes under an id. Ids are never used twice, so a blob never changes. */
import type { Body, ByteRange } from "./model.ts";

export interface BlobDriver extends AsyncDisposable {
  /** Whether octets of a blob can be moved from a file to where they go. */
  readonly areFiles?: boolean;
  /**
   * Keeps the body; resolves when it would survive a loss of power. A body that fails leaves nothing
   * behind, and its error is thrown.
   */
  put(id: string, body: Body): Promise<void>;
  /**
   * Opens a blob: from then on it can be read even if it is deleted. Null when there is none. What was
   * opened is read once, to its end or returned early, or closed.
   */
  open(id: string): Promise<OpenBlob | null>;
  /** A blob that is not there is no fault. */
  delete(ids: readonly string[]): Promise<void>;
  /** All ids with the time of their writing, for the sweep; in no order. */
  list(): AsyncIterable<{ readonly id: string; readonly writtenAt: number }>;
}

export interface OpenBlob extends AsyncDisposable {
  readonly size: number;
  read(range: ByteRange): Body;
}
