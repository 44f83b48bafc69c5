/** The transport within one process: requests go to the core by a call. */
import type { ObjectStore } from "#objects";
import { chunksOf, streamOf } from "./octets.ts";
import type { StoreTransport } from "./protocol.ts";
import { serve } from "./service.ts";

const NOTHING = new Uint8Array(0);

export function localTransport(store: ObjectStore, bucketName: string): StoreTransport {
  return {
    async send(request, given) {
      const octets = given instanceof ReadableStream ? chunksOf(given) : (given ?? NOTHING);
      const reply = await serve(store, () => store.bucket(bucketName), request, octets);
      if (!reply.ok) return reply;
      const { result, body } = reply;
      if (body === undefined) return { ok: true, result };
      return { ok: true, result, body: body instanceof Uint8Array ? body : streamOf(body) };
    },
  };
}
