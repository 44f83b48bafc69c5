/** Speaks to one bucket of an S3 endpoint: signs, sends, and tries again what may pass. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";
import { type AccessKey, EMPTY_PAYLOAD_HASH, escapeQuery, signRequest } from "#kit/sigv4.ts";
import { parseXml, type XmlElement, XmlFault } from "#kit/xml.ts";
import { answerFault, mayPass, S3Fault } from "./s3-fault.ts";
import { addressOf, type S3Location } from "./s3-location.ts";

/** All of these may be sent twice: keys are never used again, and a second upload or abort harms nobody. */
export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
}

export interface S3Answer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface S3ClientOptions {
  readonly location: S3Location;
  readonly key: AccessKey;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A connection on which nothing moves for this long is given up. */
  readonly idleMs: number;
}

/** With the waits between them up to three seconds: a restart of the server, not an outage. */
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 200;
/** Readers that are slow to take their octets hold one each, so there must be room for the others. */
const MAX_SOCKETS = 1_024;
/** Several times a list of a thousand keys. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export class S3Client implements Disposable {
  readonly location: S3Location;
  readonly #options: S3ClientOptions;
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;

  constructor(options: S3ClientOptions) {
    this.location = options.location;
    this.#options = options;
    const isPlain = options.location.endpoint.protocol === "http:";
    const { Agent, request } = isPlain ? http : https;
    this.#agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
    this.#send = request;
  }

  /** Returns the whole answer; throws an S3Fault when it is a refusal. */
  ask(request: S3Request): Promise<S3Answer> {
    return this.#persist(async () => {
      const answer = await this.#once(request);
      return { headers: answer.headers, text: await readText(answer) };
    });
  }

  /** Returns the root of the document that was answered. */
  askXml(request: S3Request): Promise<XmlElement> {
    return this.#persist(async () => {
      const text = await readText(await this.#once(request));
      const root = documentOf(text);
      // A long work begins its answer with 200, whatever comes of it.
      if (root.name === "Error") throw answerFault(500, text);
      return root;
    });
  }

  /** Returns when the octets begin to come; see below. */
  stream(request: S3Request): Promise<IncomingMessage> {
    return this.#persist(() => this.#once(request));
  }

  async #persist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (count === ATTEMPTS || !mayPass(error)) throw error;
        await this.wait(count - 1);
      }
    }
  }

  /** Twice as long each time, half of it by chance, so that those who failed together part. */
  wait(failuresBefore: number): Promise<void> {
    const { sleep, random } = this.#options;
    return sleep(FIRST_WAIT_MS * 2 ** failuresBefore * (0.5 + random() / 2));
  }

  async #once(request: S3Request): Promise<IncomingMessage> {
    const answer = await this.#exchange(request);
    const status = answer.statusCode!;
    if (status >= 200 && status < 300) return answer;
    throw answerFault(status, await readText(answer));
  }

  #exchange({ method, key, query = {}, headers = {}, body }: S3Request): Promise<IncomingMessage> {
    const { location, key: accessKey, now, idleMs } = this.#options;
    const { host, path } = addressOf(location, key);
    const signed = signRequest(
      {
        method,
        path,
        query,
        headers: { ...headers, host },
        payloadHash: body?.sha256 ?? EMPTY_PAYLOAD_HASH,
      },
      { key: accessKey, region: location.region, service: "s3", now: now() },
    );
    const length = method === "PUT" || method === "POST" ? (body?.bytes.length ?? 0) : null;
    const search = escapeQuery(query);
    return new Promise((resolve, reject) => {
      const request = this.#send({
        ...urlToHttpOptions(new URL(`${location.endpoint.protocol}//${host}`)),
        agent: this.#agent,
        method,
        path: search === "" ? path : `${path}?${search}`,
        headers: length === null ? signed : { ...signed, "content-length": length },
      });
      request.setTimeout(idleMs, () => request.destroy(silence(idleMs)));
      request.on("response", resolve);
      request.on("error", reject);
      request.end(body?.bytes);
    });
  }

  /** The octets of an answer. Gives up when none come, but not on a consumer that is slow to take them. */
  async *octetsOf(answer: IncomingMessage): AsyncIterable<Uint8Array> {
    const { idleMs } = this.#options;
    answer.socket.setTimeout(0);
    const octets = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    try {
      for (;;) {
        const timer = setTimeout(() => answer.destroy(silence(idleMs)), idleMs);
        const next = await octets.next().finally(() => clearTimeout(timer));
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      answer.destroy();
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new S3Fault(0, null, "the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function documentOf(text: string): XmlElement {
  try {
    return parseXml(text.trim()); // Blanks keep the connection alive during a long work.
  } catch (cause) {
    if (!(cause instanceof XmlFault)) throw cause;
    throw new S3Fault(0, null, `the answer is not XML: ${cause.message}`, { cause });
  }
}

function silence(ms: number): Error {
  return Object.assign(new Error(`nothing came for ${ms} ms`), { code: "ETIMEDOUT" });
}
