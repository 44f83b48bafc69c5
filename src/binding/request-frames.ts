/** A request's body as the door reads it: its JSON first, then its octets as they come. */
import type { IncomingMessage } from "node:http";
import { BodyCutShort } from "#http";
import type { Body } from "#objects";
import { unchunked } from "./chunks.ts";

/** A request whose body is all there. */
export interface WholeRequest extends Pick<IncomingMessage, "headers"> {
  readonly octets: Buffer;
}

export class RequestFrames {
  readonly #request: IncomingMessage | null;
  #chunks: AsyncIterator<Buffer> | null = null;
  #left: Uint8Array | null = null;
  #isOver = false;

  constructor(request: IncomingMessage | WholeRequest) {
    const isWhole = "octets" in request;
    this.#request = isWhole ? null : request;
    if (isWhole && request.octets.length > 0) this.#left = request.octets;
    // Most requests have no octets, and their JSON is in the head.
    this.#isOver = isWhole || request.headers["content-length"] === "0";
  }

  /** Whether all of the body was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The first octets, as many as asked for; null when there are fewer. */
  async head(octets: number): Promise<Buffer | null> {
    const head: Uint8Array[] = [];
    for (let missing = octets; missing > 0;) {
      const chunk = await this.#next();
      if (chunk === null) return null;
      head.push(chunk.subarray(0, missing));
      if (chunk.length > missing) this.#left = chunk.subarray(missing);
      missing -= Math.min(missing, chunk.length);
    }
    return Buffer.concat(head);
  }

  /** Whether nothing follows. */
  async isEnd(): Promise<boolean> {
    this.#left ??= await this.#next();
    return this.#left === null;
  }

  /** What follows. Whoever leaves it early leaves the rest unread. */
  octets(): Body | Uint8Array {
    return this.#isOver ? (this.#left ?? NOTHING) : this.#stream();
  }

  /** What follows in chunks. */
  chunkedOctets(): Body {
    return unchunked(this.#stream(), () => new BodyCutShort("The chunks of the body have no end"));
  }

  /** Reads no further. */
  async leave(): Promise<void> {
    if (!this.#isOver) await this.#chunks?.return?.();
  }

  #stream(): Body {
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value = await this.#next();
          return value === null ? { done: true, value: undefined } : { done: false, value };
        },
        return: async () => {
          await this.leave();
          return { done: true, value: undefined };
        },
      }),
    };
  }

  async #next(): Promise<Uint8Array | null> {
    const left = this.#left;
    this.#left = null;
    if (left !== null) return left;
    if (this.#isOver) return null;
    try {
      // Who leaves early still answers, so the connection must outlive that.
      this.#chunks ??= this.#request!.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
      const { done, value } = await this.#chunks.next();
      if (done !== true) return value;
      this.#isOver = true;
      return null;
    } catch (cause) {
      throw new BodyCutShort("The request broke off", { cause });
    }
  }
}

const NOTHING = new Uint8Array(0);
