/** Asks a nameserver over real sockets. */
import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { PATIENCE_MS } from "./patience.ts";

/** A UDP socket that asks one thing at a time. */
export class UdpClient implements Disposable {
  readonly #socket: Socket;
  readonly #received: Buffer[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (message) => this.#received.push(message));
  }

  /** @param address `HOST:PORT` */
  static async open(address: string): Promise<UdpClient> {
    const { host, port } = splitAddress(address);
    const socket = createSocket("udp4");
    socket.connect(port, host);
    await once(socket, "connect");
    return new UdpClient(socket);
  }

  async ask(message: Uint8Array): Promise<Buffer> {
    this.#socket.send(message);
    return this.#next();
  }

  /** What comes for the messages before the answer to the next query: nothing, when they were dropped. */
  async askThen(messages: readonly Uint8Array[], next: Buffer): Promise<Buffer[]> {
    for (const message of messages) this.#socket.send(message);
    this.#socket.send(next);
    const before: Buffer[] = [];
    for (;;) {
      const received = await this.#next();
      if (received.readUInt16BE(0) === next.readUInt16BE(0)) return before;
      before.push(received);
    }
  }

  async #next(): Promise<Buffer> {
    if (this.#received.length === 0) {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      await once(this.#socket, "message", { signal }).catch((cause: unknown) => {
        throw new Error(`No answer over UDP within ${PATIENCE_MS} ms`, { cause });
      });
    }
    return this.#received.shift()!;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** One query, one answer, one connection; null when the server hangs up instead. */
export async function askTcp(address: string, message: Uint8Array): Promise<Buffer | null> {
  const { host, port } = splitAddress(address);
  const socket = connect(port, host);
  try {
    await once(socket, "connect");
    const framed = Buffer.alloc(2 + message.length);
    framed.writeUInt16BE(message.length);
    framed.set(message, 2);
    socket.write(framed);
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error("No answer over TCP in time")));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) continue;
      assert.equal(received.length, 2 + received.readUInt16BE(0), "one answer");
      return received.subarray(2);
    }
    assert.equal(received.length, 0, "the connection was closed within a message");
    return null;
  } finally {
    socket.destroy();
  }
}

export function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
