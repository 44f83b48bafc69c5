/** A connection without an HTTP library in between: sends any bytes, reads the answers to them. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { PATIENCE_MS } from "../support/patience.ts";
import { EMAIL, KEY } from "../support/server.ts";

export interface WireAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that reads takes megabytes in this time. */
const TAKING_MS = 500;
const HEAD_END = "\r\n\r\n";

/** The head of a request with the account key, up to where further headers may follow. */
export function head(method: string, path: string, ...headers: readonly string[]): string {
  const all = [
    `${method} /client/v4${path} HTTP/1.1`,
    "Host: selvedge.test",
    `X-Auth-Email: ${EMAIL}`,
    `X-Auth-Key: ${KEY}`,
    ...headers,
  ];
  return all.join("\r\n") + HEAD_END;
}

export class Wire implements Disposable {
  readonly #socket: Socket;
  readonly #answers: WireAnswer[] = [];
  readonly #news = new EventEmitter();
  #received = "";
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1"); // A character a byte, so that lengths are those of the wire.
    socket.on("data", (text: string) => {
      this.#received += text;
      this.#takeAnswers();
      this.#news.emit("news");
    });
    socket.on("error", () => {}); // A reset is a way to close; `close` follows.
    socket.on("close", () => {
      this.#closed = true;
      this.#news.emit("news");
    });
  }

  static async open(origin: string): Promise<Wire> {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new Wire(socket);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Text goes as UTF-8. */
  write(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Whether the other side takes what was written, soon. */
  async isTaken(withinMs = TAKING_MS): Promise<boolean> {
    if (this.#closed || !this.#socket.writableNeedDrain) return !this.#closed;
    const signal = AbortSignal.timeout(withinMs);
    return once(this.#socket, "drain", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Says that nothing more will be sent. */
  finish(): void {
    this.#socket.end();
  }

  /** Takes no more of what the server sends. */
  pause(): void {
    this.#socket.pause();
  }

  /** The next answer; fails when the connection ends without one. */
  async answer(): Promise<WireAnswer> {
    await this.#until(() => this.#answers.length > 0 || this.#closed);
    const answer = this.#answers.shift();
    assert.ok(answer !== undefined, `the connection ended with: ${JSON.stringify(this.#received)}`);
    return answer;
  }

  /** Every answer that was not taken yet, once the server has closed the connection. */
  async untilClosed(): Promise<readonly WireAnswer[]> {
    await this.#until(() => this.#closed);
    assert.equal(this.#received, "", "the connection ended within an answer");
    return this.#answers.splice(0);
  }

  /** Leaves without a word. */
  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #until(holds: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    while (!holds()) {
      await once(this.#news, "news", { signal }).catch((cause: unknown) => {
        const got = JSON.stringify(this.#received);
        throw new Error(`Nothing came for ${PATIENCE_MS} ms, after ${got}`, { cause });
      });
    }
  }

  #takeAnswers(): void {
    for (;;) {
      const parsed = parseAnswer(this.#received);
      if (parsed === null) return;
      this.#answers.push(parsed.answer);
      this.#received = this.#received.slice(parsed.length);
    }
  }
}

/** Sends one thing and waits for all that comes until the server hangs up. */
export async function exchange(
  origin: string,
  bytes: string | Uint8Array,
): Promise<readonly WireAnswer[]> {
  using wire = await Wire.open(origin);
  wire.write(bytes);
  return await wire.untilClosed();
}

/** The first answer in what was received, and how much of it that was; null when not all is there. */
function parseAnswer(text: string): { answer: WireAnswer; length: number } | null {
  const end = text.indexOf(HEAD_END);
  if (end === -1) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
  assert.ok(status !== undefined, `not an answer: ${JSON.stringify(text.slice(0, 200))}`);
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const from = end + HEAD_END.length;
  // What Node answers by itself is chunked and empty.
  const chunked = headers["transfer-encoding"] === "chunked";
  const length = chunked
    ? text.indexOf(HEAD_END, from) - from
    : Number(headers["content-length"] ?? 0);
  if (length < 0 || text.length < from + length) return null;
  const body = chunked ? "" : Buffer.from(text.slice(from, from + length), "latin1").toString();
  return {
    answer: { status: Number(status), headers, body },
    length: from + length + (chunked ? HEAD_END.length : 0),
  };
}
