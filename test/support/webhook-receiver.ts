/** A webhook that notes what it is sent, and answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  /** Of the object, decoded. */
  readonly key: string;
  /** Of the event: `ObjectCreated:Put`. */
  readonly name: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly record: { s3: { object: Record<string, unknown> } } & Record<string, unknown>;
}

export class WebhookReceiver implements AsyncDisposable {
  /** What was answered. */
  readonly received: Received[] = [];
  /** The status for each message. */
  answer: (received: Received) => number | Promise<number> = () => 204;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #port = 0;

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await receiver.listen();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  get keys(): string[] {
    return this.received.map(({ key }) => key);
  }

  /** At the same port as before. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    const record = (JSON.parse(text) as { Records: [Received["record"]] }).Records[0];
    const key = decodeURIComponent(String(record.s3.object["key"]).replaceAll("+", " "));
    const name = String(record["eventName"]);
    const received = { key, name, headers: request.headers, text, record };
    const status = await this.answer(received);
    this.received.push(received);
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
  }
}
