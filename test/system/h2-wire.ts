/** A connection of HTTP/2 without a library in between: sends any frames, reads what comes back. RFC 9113, RFC 7541. */
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { until } from "../support/patience.ts";

export const FRAME = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  reset: 0x3,
  settings: 0x4,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
const ACK = 0x1;

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEAD = 9;

export type Fields = readonly (readonly [name: string, value: string])[];

/** How a stream ended: with a status, or reset, or with the whole connection. */
export type StreamEnd = number | "reset" | "closed";

interface Stream {
  status: number | null;
  isOver: boolean;
  isReset: boolean;
  octets: number;
}

export class H2Wire implements Disposable {
  readonly socket: TLSSocket;
  readonly #streams = new Map<number, Stream>();
  #received = Buffer.alloc(0);
  #isClosed = false;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on("error", () => {}); // A reset is a way to close; `close` follows.
    socket.on("close", () => (this.#isClosed = true));
    socket.on("data", (octets: Buffer) => this.#take(octets));
  }

  static async open(edge: URL, servername: string): Promise<H2Wire> {
    const socket = connect({
      host: edge.hostname,
      port: Number(edge.port),
      servername,
      ALPNProtocols: ["h2"],
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    const wire = new H2Wire(socket);
    wire.write(PREFACE);
    wire.frame(FRAME.settings, 0, 0);
    return wire;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(octets: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(octets);
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): void {
    this.write(frame(type, flags, stream, payload));
  }

  headers(stream: number, fields: Fields, flags = END_HEADERS | END_STREAM): void {
    this.frame(FRAME.headers, flags, stream, fieldBlock(fields));
  }

  /** Octets of the body that have come on a stream. */
  octetsOf(stream: number): number {
    return this.#streams.get(stream)?.octets ?? 0;
  }

  async end(stream: number): Promise<StreamEnd> {
    const isOver = () => this.#isClosed || this.#streams.get(stream)?.isOver === true;
    await until(isOver);
    const found = this.#streams.get(stream);
    if (found?.isReset === true) return "reset";
    return found?.isOver === true ? found.status! : "closed";
  }

  async closed(): Promise<void> {
    await until(() => this.#isClosed);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #take(octets: Buffer): void {
    this.#received = Buffer.concat([this.#received, octets]);
    while (this.#received.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + this.#received.readUIntBE(0, 3);
      if (this.#received.length < end) return;
      const [type, flags] = [this.#received[3]!, this.#received[4]!];
      const stream = this.#received.readUInt32BE(5) & 0x7fffffff;
      this.#hear(type, flags, stream, this.#received.subarray(FRAME_HEAD, end));
      this.#received = this.#received.subarray(end);
    }
  }

  #hear(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === FRAME.settings && (flags & ACK) === 0) this.frame(FRAME.settings, ACK, 0);
    if (id === 0) return;
    const stream = this.#streams.get(id) ?? {
      status: null,
      isOver: false,
      isReset: false,
      octets: 0,
    };
    this.#streams.set(id, stream);
    // What tells of 100 is followed by the answer.
    if (type === FRAME.headers) stream.status = statusOf(payload);
    if (type === FRAME.data) stream.octets += payload.length;
    const hasEnd = type === FRAME.headers || type === FRAME.data;
    if (hasEnd && (flags & END_STREAM) !== 0) stream.isOver = true;
    if (type !== FRAME.reset || stream.isOver) return; // Behind a whole answer a reset takes nothing away.
    stream.isOver = true;
    stream.isReset = true;
  }
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literal fields that are never indexed: any octets may be said. RFC 7541 §6.2.2. */
export function fieldBlock(fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]),
  );
}

const PREFIX = 0x7f;

function literal(text: string): Buffer {
  const octets = Buffer.from(text, "latin1");
  if (octets.length < PREFIX) return Buffer.concat([Buffer.of(octets.length), octets]);
  const length = [PREFIX];
  let left = octets.length - PREFIX;
  for (; left > PREFIX; left >>>= 7) length.push((left & PREFIX) | 0x80);
  return Buffer.concat([Buffer.from([...length, left]), octets]);
}

/** RFC 7541 appendix A: `:status` has these at 8 and after. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const FIRST_STATUS = 8;

/** The first field of an answer on a new connection, where nothing is in the dynamic table yet. */
function statusOf(block: Buffer): number {
  const first = block[0]!;
  if ((first & 0x80) !== 0) return STATUSES[(first & PREFIX) - FIRST_STATUS] ?? 0;
  const isHuffman = (block[1]! & 0x80) !== 0;
  const value = block.subarray(2, 2 + (block[1]! & PREFIX));
  return Number(isHuffman ? huffmanDigits(value) : value.toString("latin1"));
}

/** RFC 7541 appendix B, for digits: 0 to 2 have five bits, the others six. */
function huffmanDigits(octets: Buffer): string {
  const bits = [...octets].map((octet) => octet.toString(2).padStart(8, "0")).join("");
  let digits = "";
  for (let at = 0; digits.length < 3;) {
    const isShort = bits.startsWith("000", at);
    const code = Number.parseInt(bits.slice(at, at + (isShort ? 5 : 6)), 2);
    digits += isShort ? code : code - 0b011001 + 3;
    at += isShort ? 5 : 6;
  }
  return digits;
}
