/** A request on its way to whoever answers it and the answer on its way back, streamed both ways. */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AnswerSink,
  type Exchange,
  isGone,
  leaveUnsent,
  type ResponseHead,
  sendBehind,
  SMALL_BODY,
} from "#http";
import type { Awaited, Wait } from "#kit/deadlines.ts";
import { hintsTo, type OnInterim } from "./early-hints.ts";
import { responseHeaders } from "./forwarded.ts";
import { lentIn, withLength } from "./lent-answer.ts";
import { failure, hasBody, headOf, isChunked, type Onward, type Passage, SAFE } from "./onward.ts";
import { byName, lastChunk, takesTrailers, trailerField, trailersIn } from "./trailers.ts";

/** Sends the request on. Writes to the response only what comes back; the rest is the caller's. */
export function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  onward: Onward,
): Promise<Passage> {
  if (isGone(response)) return Promise.resolve({ kind: "left" }); // Its end would not be heard again.
  return new Promise((resolve) => new Passing(request, response, onward, resolve).begin(false));
}

class Passing implements AnswerSink, Awaited {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #onward: Onward;
  readonly #resolve: (passage: Passage) => void;
  readonly #hasBody: boolean;
  #exchange: Exchange | null = null;
  /** A head that is not sent yet, for its body may be at hand. */
  #head: ResponseHead | null = null;
  #small: string | null = null;
  /** The name of its body, which is elsewhere. */
  #lent: string | null = null;
  #status = 0;
  #hint: OnInterim | null = null;
  /** Its client takes no more for now. */
  #isFull = false;
  #isOver = false;
  #wait: Wait | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    onward: Onward,
    resolve: (passage: Passage) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#onward = onward;
    this.#resolve = resolve;
    this.#hasBody = hasBody(request);
    response.on("close", this.#left);
  }

  begin(fresh: boolean): void {
    const { upstream } = this.#onward;
    const method = this.#request.method!;
    const exchange = upstream.send(method, headOf(this.#request, this.#onward), this, fresh);
    this.#exchange = exchange;
    if (!this.#hasBody) this.#sent(exchange);
    else if (!fresh)
      sendBody(
        this.#request,
        () => this.#exchange,
        (whole) => this.#sent(whole),
        this.#onward.sendsTrailers === true,
      );
  }

  #sent(exchange: Exchange): void {
    exchange.finish();
    if (this.#status !== 0) return; // It may answer before it has all.
    this.#endWait(); // For a connection that was gone.
    this.#wait = this.#onward.answerWithin?.add(this) ?? null;
  }

  #endWait(): void {
    if (this.#wait !== null) this.#onward.answerWithin!.end(this.#wait);
    this.#wait = null;
  }

  late(): void {
    this.#exchange?.abort();
    this.fail(new Error(`No answer within ${this.#onward.answerWithin!.ms} ms`), true);
  }

  interim(head: ResponseHead): void {
    this.#hint ??= hintsTo(this.#response);
    this.#hint(head);
  }

  head(head: ResponseHead): void {
    this.#endWait();
    this.#status = head.status;
    this.#head = head;
    this.#lent = this.#onward.takeLent === undefined ? null : lentIn(head, this.#request);
    if (this.#lent !== null) return; // At its end, which comes with it.
    queueMicrotask(() => this.#flushSoon()); // Unless its body came along.
  }

  data(octets: Buffer, free: () => void): void {
    const isAll = this.#head?.length === octets.length && octets.length <= SMALL_BODY;
    if (isAll) {
      this.#small = octets.toString("latin1");
      return free();
    }
    this.#flush();
    const response = this.#response;
    const goesOn = response.write(octets, (error) => {
      // Of one who has gone, some may still be on their way: other octets must not take their place.
      if (!error && !isGone(response)) free();
    });
    if (goesOn || this.#isFull) return; // What was read with the last comes all the same.
    this.#isFull = true;
    this.#exchange?.pause();
    response.once("drain", () => {
      this.#isFull = false;
      this.#exchange?.resume();
    });
  }

  end(trailers: readonly string[]): void {
    const response = this.#response;
    if (this.#lent !== null) return void this.#sendLent(this.#lent);
    this.#settle({ kind: "answered", status: this.#status }); // Before its close, which is no leaving.
    if (this.#head !== null) this.#writeHead(this.#head);
    if (trailers.length > 0 && takesTrailers(this.#request)) {
      response.addTrailers(byName(trailersIn(trailers)));
    }
    if (this.#small === null) response.end();
    else response.end(this.#small, "latin1");
    this.#small = null;
  }

  async #sendLent(name: string): Promise<void> {
    const [response, head] = [this.#response, this.#head!];
    this.#exchange = null; // Its connection may carry another by now.
    try {
      const body = await this.#onward.takeLent!(name);
      if (body === null) throw new Error("The object was replaced before its octets were sent");
      if (this.#isOver) return await leaveUnsent(body);
      this.#writeHead(withLength(head, body.length));
      await (this.#request.method === "HEAD" ? leaveUnsent(body) : sendBehind(response, body));
      this.#settle({ kind: "answered", status: this.#status });
      response.end();
    } catch (cause) {
      this.#settle(failure(this.#request, cause as Error, response.headersSent));
    }
  }

  fail(cause: Error, answered: boolean): void {
    const { method } = this.#request;
    // A connection that waited may be closed by the other side just as a request is put on it.
    const mayGoAgain =
      this.#exchange?.isReused === true && !answered && !this.#hasBody && SAFE.has(method!);
    if (mayGoAgain && !this.#isOver && this.#onward.upstream.isOpen) this.begin(true);
    else this.#settle(failure(this.#request, cause, this.#response.headersSent));
  }

  drained(): void {
    this.#request.resume();
  }

  readonly #left = (): void => {
    this.#exchange?.abort();
    this.#settle({ kind: "left" });
  };

  /** workerd sends a body that it passes on just behind its head. A short one is waited for until all that came is read. */
  #flushSoon(): void {
    const length = this.#head?.length ?? null;
    if (length === null || length > SMALL_BODY) this.#flush();
    else if (this.#small === null) setImmediate(() => setImmediate(() => this.#flush()));
  }

  #flush(): void {
    if (this.#head === null || this.#small !== null || this.#isOver) return;
    this.#writeHead(this.#head);
    this.#response.flushHeaders();
  }

  #writeHead(head: ResponseHead): void {
    this.#head = null;
    const { status, reason, headers } = head;
    const { requestId, answerHeaders } = this.#onward;
    const passed = responseHeaders(headers, requestId, answerHeaders);
    for (const text of trailerField(this.#request, head)) passed.push(text);
    // HTTP/2 has no words beside a status.
    if (this.#request.httpVersionMajor === 2) this.#response.writeHead(status, passed);
    else this.#response.writeHead(status, reason, passed);
  }

  #settle(passage: Passage): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endWait();
    this.#response.off("close", this.#left);
    this.#exchange = null;
    this.#request.resume(); // What is left of a body that nobody took is passed over.
    this.#resolve(passage);
  }
}

/** No faster than the other side takes it. What it does not want to have is passed over. */
function sendBody(
  request: IncomingMessage,
  current: () => Exchange | null,
  onSent: (exchange: Exchange) => void,
  sendsTrailers: boolean,
): void {
  const inChunks = isChunked(request);
  request.on("data", (octets: Buffer) => {
    const exchange = current();
    if (exchange === null) return;
    const goesOn = inChunks ? exchange.writeChunk(octets) : exchange.write(octets);
    if (!goesOn) request.pause();
  });
  request.on("end", () => {
    const exchange = current();
    if (exchange === null) return;
    if (inChunks) exchange.write(sendsTrailers ? lastChunk(request) : "0\r\n\r\n");
    onSent(exchange);
  });
}
