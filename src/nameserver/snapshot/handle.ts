/** What a thread needs in order to read the snapshot. */
import type { MessagePort } from "node:worker_threads";

/** Can be sent to a worker; `port` must be in the transfer list. */
export interface ReaderHandle {
  readonly control: SharedArrayBuffer;
  readonly segments: readonly SharedArrayBuffer[];
  /** Brings the segments that are made later. */
  readonly port: MessagePort;
  /** Where this reader says which version it reads. */
  readonly slot: number;
}
