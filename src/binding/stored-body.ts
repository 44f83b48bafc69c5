/** The octets of an object that was read: once, as a stream or whole. */
import { gather, streamOf, whole } from "./byte-stream.ts";
import { type Habit, lentStream, noteGiven } from "./lending.ts";
import type { LentOctets, Octets } from "./protocol.ts";

const USED =
  "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.";

export class StoredBody {
  /** What nobody has asked for as a stream: most bodies are read whole, without one in between. */
  readonly #octets: Octets | LentOctets;
  #response: Response | null = null;
  /** How many there are. */
  readonly #length: number;
  readonly #contentType: string;
  readonly #habit: Habit;
  #isUsed = false;

  constructor(
    octets: Octets | LentOctets,
    length: number,
    contentType: string,
    /** Of whoever gets it. */
    habit: Habit,
  ) {
    this.#octets = octets;
    this.#length = length;
    this.#contentType = contentType;
    this.#habit = habit;
  }

  get stream(): ReadableStream<Uint8Array> {
    if (this.#response === null) {
      const body = this.#isUsed ? new Uint8Array(0) : this.#unread();
      this.#response = new Response(body as Uint8Array<ArrayBuffer>);
      if (this.#isUsed) void this.#response.arrayBuffer();
      this.#watchTee(this.#response.body!);
    }
    return this.#response.body!;
  }

  get used(): boolean {
    return this.#isUsed || this.#response?.bodyUsed === true;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return whole(await this.#read()).buffer;
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#read());
  }

  async json<T>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.arrayBuffer()], { type: this.#contentType });
  }

  #unread(): Uint8Array | ReadableStream<Uint8Array> {
    const octets = this.#octets;
    if (octets instanceof Uint8Array) return octets;
    if ("lent" in octets) return lentStream(octets, this.#habit);
    const stream = octets instanceof ReadableStream ? octets : streamOf(octets);
    noteGiven(stream, this.#habit);
    return stream;
  }

  async #read(): Promise<Uint8Array> {
    const octets = this.#take();
    if (octets instanceof Response) return new Uint8Array(await octets.arrayBuffer());
    if (octets instanceof ReadableStream) {
      return new Uint8Array(await new Response(octets).arrayBuffer());
    }
    return octets instanceof Uint8Array ? octets : gather(octets, this.#length);
  }

  #take(): Response | Octets {
    if (this.used) throw new TypeError(USED);
    if (this.#response?.body?.locked === true) {
      throw new TypeError("This ReadableStream is currently locked to a reader.");
    }
    this.#isUsed = true;
    const octets = this.#response ?? this.#octets;
    if (!("lent" in octets)) return octets;
    this.#habit.noteRead();
    octets.begin();
    return octets.stream;
  }

  /** A body that was split in two counts as used, which a stream tells only when a half is read. */
  #watchTee(stream: ReadableStream<Uint8Array>): void {
    const tee = () => {
      const halves = ReadableStream.prototype.tee.call(stream);
      this.#isUsed = true;
      return halves;
    };
    Object.defineProperty(stream, "tee", { value: tee, configurable: true, writable: true });
  }
}
