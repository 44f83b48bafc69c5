/** The transport over HTTP, with any `fetch`: a program's own, or a binding's inside workerd. */
import { JSON_BYTES, joined, split } from "./frames.ts";
import type { RequestBody, StoreReply, StoreRequest, StoreTransport } from "./protocol.ts";

export interface RemoteOptions {
  readonly fetch: (url: string, init: RequestInit & { duplex?: "half" }) => Promise<Response>;
  /** Of the bucket: `http://127.0.0.1:8700/store/v1/my-bucket`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function remoteTransport({ fetch, url, headers }: RemoteOptions): StoreTransport {
  const send = async (request: StoreRequest, octets: RequestBody | null): Promise<StoreReply> => {
    const { bytes, body } = joined(request, octets);
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        [JSON_BYTES]: String(bytes),
        "content-type": "application/octet-stream",
      },
      body: body as Uint8Array<ArrayBuffer>,
      ...(body instanceof ReadableStream && { duplex: "half" }),
    });
    return readReply(response);
  };
  return { send };
}

async function readReply(response: Response): Promise<StoreReply> {
  const header = response.headers.get(JSON_BYTES);
  if (header === null || response.body === null) {
    const text = await response.text();
    throw new Error(`The store cannot be reached: ${response.status} ${text.slice(0, 200)}`);
  }
  const { json, rest } = await split(response.body as ReadableStream<Uint8Array>, Number(header));
  const reply = json as StoreReply & { hasBody?: boolean };
  if (reply.ok && reply.hasBody === true) return { ok: true, result: reply.result, body: rest };
  await rest.cancel();
  return reply;
}
