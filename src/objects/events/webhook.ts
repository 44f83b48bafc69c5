/** Sends messages to webhooks: signed, within a time, to addresses that are allowed, and nowhere on from there. */
import { lookup } from "node:dns";
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { type WebhookPolicy, whyNotTo } from "./checks.ts";

export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** To connect, and to answer. What takes longer should answer first and work then. */
const TIMEOUT_MS = 15_000;
/** Connections that wait for the next message; each takes a descriptor. */
const MAX_FREE_SOCKETS = 16;
const IDLE_MS = 10_000;
/** Nobody looks at what comes with the status. */
const MAX_ANSWER_OCTETS = 64 * 1024;

interface Way {
  readonly request: (url: URL, options: RequestOptions) => ClientRequest;
  readonly agent: Agent;
}

export class Webhooks implements Disposable {
  /** By scheme. */
  readonly #ways: Readonly<Record<string, Way>>;
  readonly #policy: WebhookPolicy;
  readonly #timeoutMs: number;

  constructor(policy: WebhookPolicy, timeoutMs = TIMEOUT_MS) {
    const http = process.getBuiltinModule("node:http");
    const https = process.getBuiltinModule("node:https");
    const kept = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS };
    this.#policy = policy;
    this.#timeoutMs = timeoutMs;
    this.#ways = {
      "http:": { request: http.request, agent: new http.Agent(kept) },
      "https:": { request: https.request, agent: new https.Agent(kept) },
    };
  }

  /** Throws unless it was taken: answered with 2xx. */
  async send(message: WebhookMessage): Promise<void> {
    const url = new URL(message.url);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const whyNot = isIP(host) === 0 ? null : whyNotTo(host, this.#policy);
    if (whyNot !== null) throw new Error(whyNot);
    const limit = AbortSignal.timeout(this.#timeoutMs);
    try {
      const status = await this.#post(url, message, AbortSignal.any([limit, message.signal]));
      if (status >= 200 && status < 300) return;
      const why = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
      throw new Error(`The webhook answered ${status}${why}`);
    } catch (cause) {
      if (!limit.aborted || message.signal.aborted) throw cause;
      throw new Error(`The webhook did not answer within ${this.#timeoutMs / 1000} s`, { cause });
    }
  }

  [Symbol.dispose](): void {
    for (const { agent } of Object.values(this.#ways)) agent.destroy();
  }

  /** The status of the answer. A connection that was kept may have been closed meanwhile: then on another. */
  async #post(url: URL, message: WebhookMessage, signal: AbortSignal): Promise<number> {
    const { sent, status } = this.#request(url, message, signal);
    try {
      return await status;
    } catch (error) {
      const isStale = sent.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!isStale) throw error;
      return await this.#request(url, message, signal).status;
    }
  }

  #request(
    url: URL,
    { body, headers }: WebhookMessage,
    signal: AbortSignal,
  ): { readonly sent: ClientRequest; readonly status: Promise<number> } {
    const { request, agent } = this.#ways[url.protocol]!;
    const sent = request(url, {
      method: "POST",
      agent,
      signal,
      lookup: allowedOnly(this.#policy),
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "Selvedge",
        ...headers,
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    sent.once("response", (answer) => {
      resolve(answer.statusCode!);
      leave(answer);
    });
    sent.on("error", reject);
    sent.end(body);
    return { sent, status: promise };
  }
}

/** Looks a name up, and passes over addresses where one may not connect. */
function allowedOnly(policy: WebhookPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "");
      const allowed = found.filter(({ address }) => whyNotTo(address, policy) === null);
      const [first] = allowed;
      if (first === undefined) {
        const whyNot = whyNotTo(found[0]?.address ?? "", policy);
        return callback(new Error(`${hostname}: ${whyNot ?? "no address"}`), "");
      }
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** So that its connection can be used again. */
function leave(answer: IncomingMessage): void {
  let octets = 0;
  answer.on("data", (chunk: Buffer) => {
    octets += chunk.length;
    if (octets > MAX_ANSWER_OCTETS) answer.destroy();
  });
  answer.on("error", () => {}); // It was taken, or not, by what its status said.
}
