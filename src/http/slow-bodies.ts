/** Finds requests whose bodies come too slowly. One that keeps moving may take as long as it needs. */
import type { IncomingMessage } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

/** Octets a second that prolong a request by that second: less than any line in use carries. */
const LEAST_RATE = 8 * 1024;

interface Watched {
  readonly began: number;
  /** What the connection had read before. */
  readonly from: number;
}

export class SlowBodies {
  readonly #open = new Map<IncomingMessage, Watched>();
  readonly #milliseconds: number;

  /** `seconds` is the time that a request has by itself. */
  constructor(seconds: number) {
    this.#milliseconds = seconds * 1000;
  }

  /** From a request's head on, until its body is there. */
  watch(request: IncomingMessage, now: number): void {
    if (!hasBody(request)) return;
    this.#open.set(request, { began: now, from: request.socket.bytesRead });
    request.once("close", () => this.#open.delete(request));
  }

  /** Those that are out of time, each once. */
  take(now: number): IncomingMessage[] {
    const slow: IncomingMessage[] = [];
    for (const [request, { began, from }] of this.#open) {
      const granted = this.#milliseconds + ((request.socket.bytesRead - from) / LEAST_RATE) * 1000;
      const isSlow = !request.complete && !request.destroyed && now - began > granted;
      if (isSlow) slow.push(request);
      if (isSlow || request.complete || request.destroyed) this.#open.delete(request);
    }
    return slow;
  }
}

function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  // A request of HTTP/2 is over with its head, or says nothing of what follows.
  if ("stream" in request) return !(request.stream as ServerHttp2Stream).endAfterHeaders;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
