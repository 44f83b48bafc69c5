/** An HTTP proxy in front of a server, which does to chosen requests what a test wants. */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Asks the server behind; the answer is not yet passed on. */
  readonly ask: () => Promise<IncomingMessage>;
  /** Asks, and passes the answer on. */
  readonly pass: () => Promise<void>;
}

export type Treatment = (exchange: Exchange) => Promise<void> | void;

export class FaultyProxy implements AsyncDisposable {
  /** What was asked: `PUT /bucket/key?query`. */
  readonly asked: string[] = [];
  readonly #target: string;
  readonly #server: http.Server;
  readonly #treatments: { pattern: RegExp; times: number; treat: Treatment }[] = [];

  private constructor(target: string) {
    this.#target = target;
    this.#server = http.createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await once(proxy.#server.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Treats the next requests that match; the others pass. */
  treat(pattern: RegExp, treat: Treatment, times = 1): void {
    this.#treatments.push({ pattern, times, treat });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    this.asked.push(line);
    const ask = () => this.#ask(request);
    const pass = async () => {
      const answer = await ask();
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    };
    const found = this.#treatments.find(({ pattern, times }) => times > 0 && pattern.test(line));
    if (found === undefined) return pass();
    found.times--;
    await found.treat({ request, response, ask, pass });
  }

  async #ask(request: IncomingMessage): Promise<IncomingMessage> {
    const { method, headers, url } = request;
    const { hostname, port } = new URL(this.#target);
    // The host stays as it was: it is signed.
    const onward = http.request({ hostname, port, path: url, method, headers, agent: false });
    request.pipe(onward);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
