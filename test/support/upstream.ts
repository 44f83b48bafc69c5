/** A resolver on loopback, over UDP and TCP on one port, that replies whatever the test says. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import packet, { type Packet } from "dns-packet";

/** A query that came in. */
export interface Asked {
  readonly id: number;
  /** As it was spelt. */
  readonly name: string;
  readonly type: string;
  readonly transport: "udp" | "tcp";
  /** Where it came from. */
  readonly port: number;
  readonly query: Packet;
}

/** A message to send: a packet, or octets for what no packet can say. */
export type Reply = Packet | Uint8Array;

export class Upstream implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** What is replied, in order. Silence, until a test says otherwise. */
  reply: (asked: Asked) => readonly Reply[] = () => [];
  /** Sent over TCP in place of a reply, without a length; then the connection is closed. */
  tcpOctets: Uint8Array | null = null;
  readonly #host: string;
  readonly #udp;
  readonly #tcp = createServer((socket) => this.#talk(socket));
  readonly #open = new Set<Socket>();
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  /** Starts one on a free port. */
  static async start(host = "127.0.0.1"): Promise<Upstream> {
    for (;;) {
      const upstream = new Upstream(host);
      upstream.#tcp.listen(0, host);
      await once(upstream.#tcp, "listening");
      try {
        upstream.#udp.bind(upstream.port, host);
        await once(upstream.#udp, "listening");
        return upstream;
      } catch (error) {
        await upstream[Symbol.asyncDispose]();
        // What is free for TCP may be another program's for UDP.
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      }
    }
  }

  private constructor(host: string) {
    this.#host = host;
    this.#udp = createSocket(host.includes(":") ? "udp6" : "udp4");
    this.#udp.on("message", (message, { port }) => {
      const asked = this.#take(message, "udp", port);
      for (const reply of this.reply(asked)) this.send(asked, reply);
    });
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  /** As the `resolvers` setting has it. */
  get address(): string {
    return this.#host.includes(":") ? `[${this.#host}]:${this.port}` : `${this.#host}:${this.port}`;
  }

  /** Waits until so many queries have come. */
  async heard(count: number): Promise<void> {
    if (this.asked.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }

  /** Sends a datagram to where the query came from. */
  send(asked: Asked, reply: Reply): void {
    this.#udp.send(octetsOf(reply), asked.port, this.#host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close();
    this.#tcp.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#tcp, "close");
  }

  #talk(socket: Socket): void {
    this.#open.add(socket);
    let waiting = Buffer.alloc(0);
    socket
      .on("close", () => this.#open.delete(socket))
      .on("error", () => {}) // The client goes as soon as it has what it wants.
      .on("data", (data: Buffer) => {
        waiting = Buffer.concat([waiting, data]);
        if (waiting.length < 2 || waiting.length < 2 + waiting.readUInt16BE()) return;
        const asked = this.#take(waiting.subarray(2), "tcp", socket.remotePort!);
        if (this.tcpOctets !== null) {
          socket.end(this.tcpOctets);
          return;
        }
        for (const reply of this.reply(asked)) {
          const octets = octetsOf(reply);
          const length = Uint8Array.of(octets.length >> 8, octets.length & 0xff);
          socket.write(Buffer.concat([length, octets]));
        }
      });
  }

  #take(message: Buffer, transport: "udp" | "tcp", port: number): Asked {
    const query = packet.decode(message);
    const { name, type } = query.questions![0]!;
    const asked: Asked = { id: query.id!, name, type, transport, port, query };
    this.asked.push(asked);
    for (const { count, resolve } of this.#waiting) if (this.asked.length >= count) resolve();
    return asked;
  }
}

/** A reply to the query: recursion was available, RCODE 0 and no records unless given. */
export function replyTo(
  { query }: Asked,
  parts: Pick<Packet, "answers" | "authorities"> & {
    readonly rcode?: number;
    readonly truncated?: boolean;
  } = {},
): Packet {
  const { rcode = 0, truncated = false, ...sections } = parts;
  const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | rcode;
  return {
    type: "response",
    id: query.id!,
    flags: flags | (truncated ? packet.TRUNCATED_RESPONSE : 0),
    questions: query.questions!,
    ...sections,
  };
}

function octetsOf(reply: Reply): Uint8Array {
  return reply instanceof Uint8Array ? reply : packet.encode(reply);
}
