/** The octets of an object that was read: once, as a stream or whole. */

const USED =
  "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.";

export class StoredBody {
  /** Octets that nobody has asked for as a stream; most objects are small and read whole. */
  #octets: Uint8Array | null;
  #response: Response | null;
  readonly #contentType: string;
  #isUsed = false;

  constructor(octets: ReadableStream<Uint8Array> | Uint8Array, contentType: string) {
    this.#contentType = contentType;
    [this.#octets, this.#response] =
      octets instanceof Uint8Array ? [octets, null] : [null, new Response(octets)];
    if (this.#response !== null) this.#watchTee(this.#response.body!);
  }

  get stream(): ReadableStream<Uint8Array> {
    if (this.#response === null) {
      this.#response = new Response(this.#octets as Uint8Array<ArrayBuffer>);
      if (this.#isUsed) void this.#response.arrayBuffer();
      else this.#octets = null;
      this.#watchTee(this.#response.body!);
    }
    return this.#response.body!;
  }

  get used(): boolean {
    return this.#isUsed || this.#response?.bodyUsed === true;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const octets = this.#take();
    return octets instanceof Response ? octets.arrayBuffer() : new Uint8Array(octets).buffer;
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async text(): Promise<string> {
    const octets = this.#take();
    return octets instanceof Response ? octets.text() : new TextDecoder().decode(octets);
  }

  async json<T>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.arrayBuffer()], { type: this.#contentType });
  }

  #take(): Response | Uint8Array<ArrayBuffer> {
    if (this.used) throw new TypeError(USED);
    if (this.#response?.body?.locked === true) {
      throw new TypeError("This ReadableStream is currently locked to a reader.");
    }
    this.#isUsed = true;
    return this.#response ?? (this.#octets as Uint8Array<ArrayBuffer>);
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
