/**
 * The store over HTTP: `POST /store/v1/{bucket}` takes a request of the binding as one body and answers
 * with its reply, octets streaming both ways. `frames.ts` has the form.
 */
import type { IncomingMessage } from "node:http";
import { AccountFault } from "#accounts";
import type { Reply } from "#http";
import { type Body, ObjectFault, type ObjectStore } from "#objects";
import type { Access, Authorize, ObjectPermission } from "./access.ts";
import { JSON_BYTES, jsonBytesOf, MAX_JSON_BYTES } from "./frames.ts";
import type { StoreMethod } from "./protocol.ts";
import { RequestFrames } from "./request-frames.ts";
import { readRequest } from "./request-shape.ts";
import { refusal, serve, type ServedReply } from "./service.ts";

export interface StoreDoorOptions {
  readonly store: ObjectStore;
  readonly authorize: Authorize;
}

/** What it needs of a call. */
export interface StoreCall {
  readonly request: IncomingMessage;
  readonly params: Readonly<Record<string, string>>;
  /** Who asks, once that is known; for the log. */
  actor: string | null;
}

/** Methods that change nothing. */
const READS: ReadonlySet<StoreMethod> = new Set(["head", "get", "list"]);
/** Methods whose octets follow the JSON. */
const SENDS_OCTETS: ReadonlySet<StoreMethod> = new Set(["put", "uploadPart"]);

const NOTHING = new Uint8Array(0);

export function storeDoor({ store, authorize }: StoreDoorOptions) {
  return async (call: StoreCall): Promise<Reply> => {
    const frames = new RequestFrames(call.request);
    const reply = await answer(store, authorize, call, frames);
    return { ...framed(reply), closes: !frames.isOver && !(await isShortlyOver(frames)) };
  };
}
