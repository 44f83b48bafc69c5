/** The transport over HTTP, with any `fetch`: a program's own, or a binding's inside workerd. */
import { cut, FEW_OCTETS, JSON_BYTES, JSON_TEXT, joined, jsonBytesOf, split } from "./frames.ts";
import type {
  LentOctets,
  Octets,
  RequestBody,
  StoreReply,
  StoreRequest,
  StoreTransport,
} from "./protocol.ts";

export interface RemoteOptions {
  readonly fetch: (url: string, init: RequestInit & { duplex?: "half" }) => Promise<Response>;
  /** Of the bucket: `http://127.0.0.1:8700/store/v1/my-bucket`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where octets may be lent. */
  readonly lending?: Lending;
}

export interface Lending {
  readonly isOn: boolean;
  /** Takes what must be brought to its end though the caller has had its answer. */
  goOn(asked: Promise<unknown>): void;
}

/** Enough of a stranger's answer to tell what it is. */
const SHOWN_CHARACTERS = 200;

/** Octets up to here are read at once: a stream for them would cost more than they do. */
const WHOLE_BYTES = 64 * 1024;

export function remoteTransport({ fetch, url, headers, lending }: RemoteOptions): StoreTransport {
  const send = async (request: StoreRequest, octets: RequestBody | null): Promise<StoreReply> => {
    let broken: { readonly error: unknown } | null = null;
    const { headers: ours, body } = joined(request, octets, (error) => (broken = { error }));
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, ...ours },
        body: body as Uint8Array<ArrayBuffer> | null,
        ...(body instanceof ReadableStream && { duplex: "half" }),
      });
      const reply = await readReply(response, lentBy);
      if (broken === null) return reply;
      throw broken; // Not every runtime tells of a stream that failed while it was sent.
    } catch (cause) {
      throw troubleOf(broken, cause, url);
    }
  };
  const lentBy = (lent: string, stream: ReadableStream<Uint8Array>): LentOctets => ({
    lent,
    stream,
    // What goes wrong, the stream tells.
    begin: () => lending!.goOn(send({ method: "begin", lent }, null).catch(() => {})),
  });
  return {
    send,
    get lends() {
      return lending?.isOn === true;
    },
  };
}

/** A value that could not be read is its owner's trouble, and told as it was. */
function troubleOf(
  broken: { readonly error: unknown } | null,
  cause: unknown,
  url: string,
): unknown {
  if (broken !== null) return broken.error;
  if (cause instanceof StrangeAnswer) return new Error(cause.message);
  const why = (cause as Error).cause instanceof Error ? (cause as Error).cause : cause;
  return new Error(`The store cannot be reached at ${url}: ${(why as Error).message}`, { cause });
}

class StrangeAnswer extends Error {}

/** Taken before a script runs that may change it. An older Node has none, and is sent nothing that needs it. */
const fromBase64 = Reflect.get(Uint8Array, "fromBase64");

/** Held as long as their bodies are: Node ends the body of a response that nobody holds any more. */
const responses = new WeakMap<ReadableStream, Response>();

/** What a reply says beside its result. */
type ReplyJson = StoreReply & { hasBody?: boolean; lent?: string };

async function readReply(
  response: Response,
  lentBy: (lent: string, stream: ReadableStream<Uint8Array>) => LentOctets,
): Promise<StoreReply> {
  const header = response.headers.get(JSON_TEXT);
  if (header !== null) {
    const { hasBody, lent, ...reply } = JSON.parse(header) as ReplyJson;
    if (lent !== undefined) return { ...reply, body: lentBy(lent, response.body!) } as StoreReply;
    return hasBody === true ? { ...reply, ...(await octetsOf(response)) } : reply;
  }
  const bytes = jsonBytesOf(response.headers.get(JSON_BYTES));
  if (bytes === null || response.body === null) throw await strangeAnswer(response);
  const length = Number(response.headers.get("content-length") ?? Infinity);
  const { json, rest } =
    length - bytes <= WHOLE_BYTES
      ? cut(new Uint8Array(await response.arrayBuffer()), bytes)
      : await split(response.body as ReadableStream<Uint8Array>, bytes);
  const reply = json as ReplyJson;
  if (!reply.ok || reply.hasBody !== true) return reply;
  return { ok: true, result: reply.result, body: rest };
}

async function octetsOf(response: Response): Promise<{ body: Octets }> {
  const few = response.headers.get(FEW_OCTETS);
  if (few !== null) return { body: fromBase64(few) };
  const body = response.body as ReadableStream<Uint8Array> | null;
  const length = Number(response.headers.get("content-length") ?? Infinity);
  if (body === null || length <= WHOLE_BYTES) {
    return { body: new Uint8Array(await response.arrayBuffer()) };
  }
  responses.set(body, response);
  return { body };
}

async function strangeAnswer(response: Response): Promise<StrangeAnswer> {
  const id = response.headers.get("x-request-id");
  if (response.status === 500 && id !== null) {
    await response.body?.cancel();
    return new StrangeAnswer(`internal error; reference = ${id}`);
  }
  const text = (await response.text()).slice(0, SHOWN_CHARACTERS);
  return new StrangeAnswer(`This is no store: it answered ${response.status} ${text}`);
}
