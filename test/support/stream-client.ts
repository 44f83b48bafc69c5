/** A client of DNS over TCP or TLS that sends octets as a test wants them. */
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { once } from "node:events";
import { type DecodedPacket, decode, encode } from "dns-packet";
import type { HostPort } from "../../src/kit/address.ts";
import { PATIENCE_MS } from "./patience.ts";

export class StreamClient implements Disposable {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  readonly #answers: DecodedPacket[] = [];
  #received = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {}); // A server may well hang up on a test.
    socket.on("close", () => this.#wake());
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  static async open({ host, port }: HostPort, options: Partial<NetConnectOpts> = {}) {
    const client = new StreamClient(connect({ host, port, ...options } as NetConnectOpts));
    if (client.socket.connecting) await within(once(client.socket, "connect"));
    return client;
  }

  /** The server's certificate is taken as it is, unless a test says otherwise. */
  static async openTls({ host, port }: HostPort, options: ConnectionOptions = {}) {
    const socket = connectTls({ host, port, rejectUnauthorized: false, ...options });
    await within(once(socket, "secureConnect"));
    return new StreamClient(socket);
  }

  send(...messages: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(messages));
  }

  /** The next answer; null when the connection was closed instead. */
  async next(): Promise<DecodedPacket | null> {
    while (this.#answers.length === 0) {
      if (this.socket.destroyed) return null;
      await within(new Promise<void>((resolve) => (this.#wake = resolve)));
    }
    return this.#answers.shift()!;
  }

  async nextOf(count: number): Promise<DecodedPacket[]> {
    const answers: DecodedPacket[] = [];
    while (answers.length < count) {
      const answer = await this.next();
      if (answer === null) throw new Error(`The server hung up after ${answers.length} answers`);
      answers.push(answer);
    }
    return answers;
  }

  /** Answers that have come and nobody asked for yet. */
  get waiting(): number {
    return this.#answers.length;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (this.#received.length - at >= 2) {
      const end = at + 2 + this.#received.readUInt16BE(at);
      if (this.#received.length < end) break;
      this.#answers.push(decode(this.#received.subarray(at + 2, end)));
      at = end;
    }
    this.#received = this.#received.subarray(at);
    this.#wake();
  }
}

/** A query for an A record, behind its length. */
export function framedQuery(id: number, name: string): Buffer {
  const message = encode({ type: "query", id, questions: [{ type: "A", name }] });
  const framed = Buffer.alloc(2 + message.length);
  framed.writeUInt16BE(message.length);
  framed.set(message, 2);
  return framed;
}

export async function within<T>(work: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
