/** A request that is all there, in the form in which handlers know those of Node. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { PlainHead } from "./head.ts";

const NOTHING = {};
const NO_FIELDS: readonly string[] = [];
const NO_OCTETS = new Uint8Array(0);

export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  readonly sharesHeaders: boolean;
  readonly #body: Buffer | null;
  /** Made when somebody wants to read: most requests have nothing to be read. */
  #stream: Readable | null = null;

  constructor(
    { method, url, headers, rawHeaders, isShared }: PlainHead,
    body: Buffer | null,
    socket: Socket,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.socket = socket;
    this.sharesHeaders = isShared;
    this.#body = body;
  }

  get httpVersion(): string {
    return "1.1";
  }

  get httpVersionMajor(): number {
    return 1;
  }

  get httpVersionMinor(): number {
    return 1;
  }

  get complete(): boolean {
    return true;
  }

  /** The whole body, for whoever does not want it in pieces. */
  get octets(): Uint8Array {
    return this.#body ?? NO_OCTETS;
  }

  get trailers(): object {
    return NOTHING;
  }

  get rawTrailers(): readonly string[] {
    return NO_FIELDS;
  }

  get destroyed(): boolean {
    return this.#stream?.destroyed ?? false;
  }

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#readable().on(event, listener);
    return this;
  }

  once(event: string, listener: (...args: unknown[]) => void): this {
    this.#readable().once(event, listener);
    return this;
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#stream?.off(event, listener);
    return this;
  }

  pause(): this {
    this.#readable().pause();
    return this;
  }

  /** Nobody waits for what nobody has begun to read. */
  resume(): this {
    this.#stream?.resume();
    return this;
  }

  /** What is at hand needs no stream to be read. */
  iterator(): AsyncIterableIterator<Buffer> {
    return this.#stream === null
      ? piecesOf(this.#body)
      : (this.#stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>);
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return this.iterator();
  }

  #readable(): Readable {
    if (this.#stream !== null) return this.#stream;
    const stream = new Readable({ read() {} });
    if (this.#body !== null) stream.push(this.#body);
    stream.push(null);
    return (this.#stream = stream);
  }
}

/** Whether all requests with the headers of this one have the very same record of them. */
export function sharesHeaders(request: IncomingMessage): boolean {
  const known: unknown = request; // Handlers know it as one of Node's.
  return known instanceof PlainRequest && known.sharesHeaders;
}

async function* piecesOf(body: Buffer | null): AsyncGenerator<Buffer, void> {
  if (body !== null) yield body;
}
