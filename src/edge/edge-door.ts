/** HTTP for proxied names: finds where a request goes and sees it there and back. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import {
  breakOff,
  clientAddress,
  type RejectedReply,
  type RejectedRequest,
  type Reply,
  requestIds,
  sendReply,
  type Upstream,
} from "#http";
import { type Ranges, unmapped } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { CachedOrigin, Ways } from "./cached-origin.ts";
import { sendCached } from "./cache/send-cached.ts";
import { type Asked, type DestinationOptions, destinations } from "./destination.ts";
import { hintsTo } from "./early-hints.ts";
import { requestHeaders } from "./forwarded.ts";
import { requestTarget } from "./host.ts";
import type { Observe, Outcome } from "./observe.ts";
import { upgradeOn } from "./upgrade-on.ts";
import { refusalReply, refusals, type Refusal, scriptRefusal } from "./refusals.ts";
import type { Passage } from "./onward.ts";
import { passOn } from "./pass-on.ts";
import { ScriptRefused } from "./threads/main-thread.ts";
import type { ScriptPlace } from "./threads/script-places.ts";

export interface EdgeOptions extends DestinationOptions {
  /** A place for one request with a script's process; throws `ScriptRefused` where there is none. */
  readonly openScript: (scriptId: string) => Promise<ScriptPlace>;
  /** Where buckets answer that have hostnames of their own. */
  readonly buckets: Upstream;
  readonly origins: CachedOrigin;
  /** What the door speaks. */
  readonly scheme: Asked["scheme"];
  readonly trustedProxies: Ranges | null;
  readonly observe: Observe;
  readonly log: Log;
}

/** What a listener needs to serve the edge. */
export interface EdgeDoor {
  readonly handle: RequestListener;
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly answerRejected: (rejected: RejectedRequest) => RejectedReply;
}

export function edgeDoor(options: EdgeOptions): EdgeDoor {
  const nextId = requestIds();
  const { observe } = options;
  const way = new Way(options);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const began = performance.now();
    const requestId = nextId();
    const outcome = await way.take(request, requestId, {
      pass: (onward) => passOn(request, response, onward),
      send: (answer, also) => sendCached(response, answer, also),
      hear: () => hintsTo(response),
    });
    const refusal = refusalOf(outcome);
    if (refusal !== null) {
      if (response.headersSent) breakOff(response);
      else
        void sendReply(
          response,
          refusalReply(refusal, request.headers.accept, requestId),
          requestId,
        );
    }
    observe(request, outcome, requestId, performance.now() - began);
  };

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const began = performance.now();
    const requestId = nextId();
    socket.on("error", () => socket.destroy());
    const outcome = await way.take(
      request,
      requestId,
      {
        pass: (onward) => upgradeOn(request, socket, head, onward),
        send: null,
        hear: () => () => {},
      },
      request.headers.upgrade ?? null,
    );
    const refusal = refusalOf(outcome);
    if (refusal !== null) {
      socket.end(asText(refusalReply(refusal, request.headers.accept, requestId), requestId));
    }
    observe(request, outcome, requestId, performance.now() - began);
  };

  return {
    handle: (request, response) => void serve(request, response),
    handleUpgrade: (request, socket, head) => void upgrade(request, socket, head),
    answerRejected({ status }) {
      const requestId = nextId();
      const message = "The request is not HTTP that can be understood, or took too long.";
      const { type, body } = refusalReply({ status, code: "bad_request", message }, "", requestId);
      options.log.info("request rejected", { request_id: requestId, status });
      return { requestId, type, body: body as string };
    },
  };
}

/** From a request's head to its destination. */
class Way {
  readonly #options: EdgeOptions;
  readonly #destinationOf: ReturnType<typeof destinations>;

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#destinationOf = destinations(options);
  }

  /** Never throws: whatever goes wrong is an outcome. */
  async take(
    request: IncomingMessage,
    requestId: string,
    ways: Ways,
    upgrade: string | null = null,
  ): Promise<Outcome> {
    try {
      const asked = requestTarget(request);
      if (asked === null) return refusals.badHost();
      const client = this.#clientOf(request);
      const found = this.#destinationOf({
        ...asked,
        scheme: client.scheme,
        tlsVersion: tlsVersionOf(request),
      });
      const destination = found instanceof Promise ? await found : found;
      if (destination.kind === "refused") return destination.refusal;
      const { rawHeaders } = request;
      const facts = { ...client, host: asked.host, requestId };
      const headersOn = () => requestHeaders(rawHeaders, facts, upgrade);
      if (destination.kind === "origin") {
        const onward = {
          ...asked,
          scheme: client.scheme,
          zone: destination.zone,
          origin: destination.origin,
          passed: listOf(request.headers["cdn-loop"]),
          answerHeaders: destination.answerHeaders,
          headers: headersOn,
          requestId,
        };
        return await this.#options.origins.take(request, onward, ways);
      }
      const { answerHeaders } = destination;
      const headers = headersOn();
      const onward = { target: asked.target, headers, requestId, answerHeaders };
      if (destination.kind === "bucket") {
        const passage = await ways.pass({ upstream: this.#options.buckets, ...onward });
        if (passage.kind === "failed" && !passage.answerBegan) throw passage.cause;
        return passage;
      }
      const { scriptId } = destination;
      headers.push("X-Selvedge-CF", factsFor(request));
      return await this.#toScript(scriptId, (place) =>
        ways.pass({ upstream: place.upstream, ...onward }),
      );
    } catch (cause) {
      const refusal = cause instanceof ScriptRefused ? scriptRefusal(cause.kind) : null;
      if (refusal !== null) return refusal;
      this.#options.log.error("request failed", { request_id: requestId, cause });
      return refusals.internal();
    }
  }

  async #toScript(
    scriptId: string,
    pass: (place: ScriptPlace) => Promise<Passage>,
    isAgain = false,
  ): Promise<Outcome> {
    using place = await this.#options.openScript(scriptId);
    const passage = await pass(place);
    if (passage.kind !== "failed") return passage;
    // A process that has just ended was never asked: another takes its place.
    if (passage.neverSent && !isAgain) return await this.#toScript(scriptId, pass, true);
    // It may have been ended for what it did; that says more than a lost connection.
    const fault = await place.fault();
    return (fault === null ? null : scriptRefusal(fault)) ?? passage;
  }

  #clientOf({ socket, headers }: IncomingMessage) {
    const { trustedProxies } = this.#options;
    const peer = unmapped(socket.remoteAddress ?? "");
    const isTrusted = trustedProxies?.has(peer) === true;
    const forwardedFor = headers["x-forwarded-for"];
    const text = typeof forwardedFor === "string" ? forwardedFor : undefined;
    const scheme: Asked["scheme"] =
      isTrusted && headers["x-forwarded-proto"] === "https" ? "https" : this.#options.scheme;
    return {
      peer,
      address: clientAddress(peer, text, trustedProxies),
      forwardedFor: isTrusted ? (text ?? null) : null,
      scheme,
    };
  }
}

function listOf(header: string | string[] | undefined): string | null {
  return Array.isArray(header) ? header.join(", ") : (header ?? null);
}

/** What scripts find as `request.cf`. */
function factsFor(request: IncomingMessage): string {
  const httpProtocol = `HTTP/${request.httpVersion.replace(/\.0$/, "")}`;
  return JSON.stringify({ httpProtocol, tlsVersion: tlsVersionOf(request) ?? "" });
}

function tlsVersionOf({ socket }: IncomingMessage): string | null {
  return "getProtocol" in socket ? (socket as TLSSocket).getProtocol() : null;
}

/** What the client must be told by the edge itself; null when it has its answer, or has gone. */
function refusalOf(outcome: Outcome): Refusal | null {
  if (!("kind" in outcome)) return outcome;
  return outcome.kind === "failed" ? refusals.brokenScript() : null;
}

/** On the bare socket of a request that wanted to upgrade. */
function asText({ status, type, body, headers }: Reply, requestId: string): string {
  const all = {
    "Content-Type": type,
    "Content-Length": String(Buffer.byteLength(body as string)),
    "X-Request-Id": requestId,
    ...headers,
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body as string}`;
}
