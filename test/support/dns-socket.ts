/** A UDP client of a nameserver that has many questions under way at a time, from an address of its choice. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import { parseHostPort } from "../../src/kit/address.ts";
import { decodeMessage, encodeQuery, type Message, type Query } from "./dns-message.ts";
import { PATIENCE_MS } from "./patience.ts";

/** Sent in one go; more could overflow a socket's buffer before the server gets its turn. */
const TOGETHER = 100;

/** What the kernel gives at most, for bursts of answers. */
const BUFFER_BYTES = 4 * 1024 * 1024;

export class DnsSocket implements Disposable {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (answer: Buffer) => void>();
  #lastId = 0;
  /** Answers that nobody waited for: to no question of ours, or a second one to the same. */
  strange = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => {}); // A port where nobody listens is no answer, and no more than that.
    socket.on("message", (message) => {
      const id = message.readUInt16BE(0);
      const take = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (take === undefined) this.strange++;
      else take(message);
    });
  }

  /**
   * @param address `HOST:PORT` of the nameserver
   * @param source one of our own addresses; all of 127.0.0.0/8 are
   */
  static async open(address: string, source?: string): Promise<DnsSocket> {
    const { host, port } = parseHostPort(address);
    const socket = createSocket({
      type: isIPv6(host) ? "udp6" : "udp4",
      recvBufferSize: BUFFER_BYTES,
    });
    if (source !== undefined) {
      socket.bind(0, source);
      await once(socket, "listening");
    }
    socket.connect(port, host);
    await once(socket, "connect");
    return new DnsSocket(socket);
  }

  async ask(query: Query): Promise<Message> {
    const answer = await this.#send(encodeQuery(query), PATIENCE_MS);
    if (answer === null) throw new Error(`No answer within ${PATIENCE_MS} ms`);
    return decodeMessage(answer);
  }

  /** Whether it is answered within this time. */
  async isAnswered(query: Query, ms: number): Promise<boolean> {
    return (await this.#send(encodeQuery(query), ms)) !== null;
  }

  /** Asks them all, some at a time; rejects when one is not answered. */
  async askAll(queries: readonly Query[]): Promise<Message[]> {
    const answers: Message[] = [];
    for (let i = 0; i < queries.length; i += TOGETHER) {
      const some = queries.slice(i, i + TOGETHER).map((query) => this.ask(query));
      answers.push(...(await Promise.all(some)));
    }
    return answers;
  }

  /**
   * What each is answered with before the last question of all is, which must be answered: one thread
   * serves a socket, in order. Null for what was dropped. The messages' IDs are replaced.
   */
  async askBefore(last: Query, messages: readonly Buffer[]): Promise<(Message | null)[]> {
    const answers: (Buffer | null)[] = messages.map(() => null);
    const ids = messages.map((message, i) => {
      const id = this.#nextId();
      this.#waiting.set(id, (answer) => (answers[i] = answer));
      message.writeUInt16BE(id, 0);
      this.#socket.send(message);
      return id;
    });
    await this.ask(last);
    for (const id of ids) this.#waiting.delete(id);
    return answers.map((answer) => answer && decodeMessage(answer));
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  async #send(message: Buffer, ms: number): Promise<Buffer | null> {
    const id = this.#nextId();
    const { promise, resolve } = Promise.withResolvers<Buffer | null>();
    this.#waiting.set(id, resolve);
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      resolve(null);
    }, ms);
    message.writeUInt16BE(id, 0);
    this.#socket.send(message);
    const answer = await promise;
    clearTimeout(timer);
    return answer;
  }

  #nextId(): number {
    this.#lastId = (this.#lastId + 1) & 0xffff;
    return this.#lastId;
  }
}
