/** The transport within one process: requests go to the core by a call. */
import type { ObjectStore } from "#objects";
import type { StoreTransport } from "./protocol.ts";
import { serve } from "./service.ts";

export function localTransport(store: ObjectStore, bucketName: string): StoreTransport {
  return { send: (request, body) => serve(store, bucketName, request, body) };
}
