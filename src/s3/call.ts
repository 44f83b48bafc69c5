/** One request to the S3 door as its operation sees it. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { octetsAtHand, requestOctets } from "#http";
import type { Bucket } from "#objects";
import type { Authenticated, Caller } from "./auth/index.ts";
import { type Payload, type PayloadForm, readPayload } from "./payload/index.ts";
import type { Target } from "./target.ts";

export interface S3CallOptions {
  readonly request: IncomingMessage;
  readonly target: Target;
  readonly authenticated: Authenticated;
  /** Tells a client that holds its body back to send it. */
  readonly askForBody: () => void;
}

/** Where the headers of a write are read: a request, or the fields of a form that stand for them. */
export interface HeaderSource {
  readonly request: { readonly headers: IncomingHttpHeaders };
  header(name: string): string | undefined;
  headersUnder(prefix: string): Iterable<readonly [rest: string, value: string]>;
}

const IS_CHECKSUM = /^x-amz-checksum-/;

export class S3Call implements HeaderSource {
  readonly request: IncomingMessage;
  readonly target: Target;
  /** Null for who has not signed: only what is public gets so far. */
  readonly caller: Caller | null;
  readonly key: string;
  readonly #askForBody: () => void;
  readonly #authenticated: Authenticated;
  #bucket: Bucket | null = null;

  constructor({ request, target, authenticated, askForBody }: S3CallOptions) {
    this.request = request;
    this.target = target;
    this.caller = authenticated.caller;
    this.key = target.key;
    this.#askForBody = askForBody;
    this.#authenticated = authenticated;
  }

  /** There for every operation on a bucket or an object, unless it declares `withoutBucket`. */
  get bucket(): Bucket {
    return this.#bucket!;
  }

  /** The frame's own: it has found the bucket. */
  set bucket(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** The value of a query name; undefined where it is not named. */
  query(name: string): string | undefined {
    for (const [given, value] of this.target.query) if (given === name) return value;
    return undefined;
  }

  /** A header by its lower-case name. Presigned requests may carry those of `x-amz-` in their query. */
  header(name: string): string | undefined {
    const header = this.request.headers[name];
    if (header !== undefined) return header as string; // Only Set-Cookie comes as a list.
    for (const [hoisted, value] of this.#authenticated.payload.hoisted) {
      if (hoisted === name) return value;
    }
    return undefined;
  }

  /** Headers whose names begin so, from wherever they stand, without that beginning. */
  *headersUnder(prefix: string): Generator<[rest: string, value: string]> {
    for (const name in this.request.headers) {
      if (name.startsWith(prefix)) {
        yield [name.slice(prefix.length), this.request.headers[name] as string];
      }
    }
    for (const [name, value] of this.#authenticated.payload.hoisted) {
      if (name.startsWith(prefix) && !(name in this.request.headers)) {
        yield [name.slice(prefix.length), value];
      }
    }
  }

  /** The body as the core takes it. Asked for once, when all that can be refused without it is. */
  payload(): Payload {
    return this.#read(this.#authenticated.payload);
  }

  /** The body where checksums of the head are those of something else: of the object that it completes. */
  payloadApart(): Payload {
    const { payload } = this.#authenticated;
    const others = Object.entries(payload.headers).filter(([name]) => !IS_CHECKSUM.test(name));
    return this.#read({ ...payload, headers: Object.fromEntries(others), hoisted: [] });
  }

  #read(form: PayloadForm): Payload {
    this.#askForBody();
    return readPayload(octetsAtHand(this.request) ?? requestOctets(this.request), form);
  }
}
