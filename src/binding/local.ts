/** The transport within one process: requests go to the core by a call. */
import type { ObjectStore } from "#objects";
import { chunksOf } from "./byte-stream.ts";
import type { StoreTransport } from "./protocol.ts";
import { serve } from "./service.ts";

const NOTHING = new Uint8Array(0);

export function localTransport(store: ObjectStore, bucketName: string): StoreTransport {
  return {
    send(request, given) {
      const octets =
        given instanceof ReadableStream ? chunksOf(given.getReader()) : (given ?? NOTHING);
      return serve(store, () => store.bucket(bucketName), request, octets);
    },
  };
}
