/** HTTP for proxied names: finds where a request goes and sees it there and back. */
import type { IncomingMessage, RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import {
  clientAddress,
  type RejectedReply,
  type RejectedRequest,
  requestIds,
  type StreamedBody,
  type Upstream,
} from "#http";
import { type Ranges, unmapped } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { CachedOrigin } from "./cached-origin.ts";
import {
  type Asked,
  type Destination,
  type DestinationOptions,
  destinations,
} from "./destination.ts";
import { type ClientFacts, requestHeaders } from "./forwarded.ts";
import { requestTarget } from "./host.ts";
import type { Observe, Outcome } from "./observe.ts";
import type { Passage } from "./onward.ts";
import type { OriginRequest } from "./origin/origin-proxy.ts";
import { refusalReply, refusals, type Refusal, scriptRefusal } from "./refusals.ts";
import { ScriptRefused } from "./threads/main-thread.ts";
import type { ScriptPlace } from "./threads/script-places.ts";
import { RequestVisit, UpgradeVisit, type Visit } from "./visit.ts";

export interface EdgeOptions extends DestinationOptions {
  /** A place for one request with a script's process; throws `ScriptRefused` where there is none. */
  readonly openScript: (scriptId: string) => Promise<ScriptPlace>;
  /** A body that a script or a bucket has passed on as it is in the store; null when it is not there any more. */
  readonly takeLent: (name: string, owner: string | null) => Promise<StreamedBody | null>;
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
  const way = new Way(options);
  return {
    handle: (request, response) => {
      way.take(request, nextId(), new RequestVisit(request, response, options.observe));
    },
    handleUpgrade: (request, socket, head) => {
      way.take(request, nextId(), new UpgradeVisit(request, socket, head, options.observe));
    },
    answerRejected({ status }) {
      const requestId = nextId();
      const message = "The request is not HTTP that can be understood, or took too long.";
      const { type, body } = refusalReply({ status, code: "bad_request", message }, "", requestId);
      options.log.info("request rejected", { request_id: requestId, status });
      return { requestId, type, body: body as string };
    },
  };
}

/** A request as its head tells it, and whose it is. */
type AskedBy = Asked & ClientFacts;
type InsideDestination = Exclude<Destination, { kind: "refused" | "origin" }>;

/** From a request's head to its destination. */
class Way {
  readonly #options: EdgeOptions;
  readonly #destinationOf: ReturnType<typeof destinations>;

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#destinationOf = destinations(options);
  }

  /** Never throws: whatever goes wrong is an outcome. What has to wait for nothing is over when it returns. */
  take(request: IncomingMessage, requestId: string, visit: Visit): void {
    const outcome = this.#outcomeOf(request, requestId, visit);
    if (!(outcome instanceof Promise)) return visit.end(outcome, requestId);
    outcome.then(
      (late) => visit.end(late, requestId),
      (cause: unknown) => visit.end(this.#faultOf(cause, requestId), requestId),
    );
  }

  #outcomeOf(
    request: IncomingMessage,
    requestId: string,
    visit: Visit,
  ): Outcome | Promise<Outcome> {
    try {
      const asked = this.#read(request, requestId);
      if (asked === null) return refusals.badHost();
      const found = this.#destinationOf(asked);
      return found instanceof Promise
        ? found.then((destination) => this.#go(destination, request, asked, visit))
        : this.#go(found, request, asked, visit);
    } catch (cause) {
      return this.#faultOf(cause, requestId);
    }
  }

  /** Null when it names no host. */
  #read(request: IncomingMessage, requestId: string): AskedBy | null {
    const asked = requestTarget(request);
    if (asked === null) return null;
    const { trustedProxies, scheme } = this.#options;
    const { host, hostname, target } = asked;
    const { headers } = request;
    const peer = unmapped(request.socket.remoteAddress ?? "");
    const isTrusted = trustedProxies?.has(peer) === true;
    const forwardedFor = headers["x-forwarded-for"];
    const text = typeof forwardedFor === "string" ? forwardedFor : undefined;
    return {
      host,
      hostname,
      target,
      scheme: isTrusted && headers["x-forwarded-proto"] === "https" ? "https" : scheme,
      tlsVersion: scheme === "https" ? tlsVersionOf(request) : null,
      peer,
      address: clientAddress(peer, text, trustedProxies),
      forwardedFor: isTrusted ? (text ?? null) : null,
      requestId,
    };
  }

  #go(
    destination: Destination,
    request: IncomingMessage,
    asked: AskedBy,
    visit: Visit,
  ): Outcome | Promise<Outcome> {
    if (destination.kind === "refused") return destination.refusal;
    const headers = () => requestHeaders(request.rawHeaders, asked, visit.upgrade);
    if (destination.kind !== "origin") {
      return this.#goInside(destination, headers(), request, asked, visit);
    }
    const onward: OriginRequest = {
      host: asked.host,
      hostname: asked.hostname,
      target: asked.target,
      scheme: asked.scheme,
      zone: destination.zone,
      origin: destination.origin,
      passed: listOf(request.headers["cdn-loop"]),
      answerHeaders: destination.answerHeaders,
      headers,
      requestId: asked.requestId,
    };
    return this.#options.origins.take(request, onward, visit);
  }

  /** To a script or a bucket. */
  async #goInside(
    destination: InsideDestination,
    headers: string[],
    request: IncomingMessage,
    { target, requestId }: AskedBy,
    visit: Visit,
  ): Promise<Outcome> {
    const { buckets } = this.#options;
    const owner = destination.kind === "script" ? destination.scriptId : null;
    const takeLent = (name: string) => this.#options.takeLent(name, owner);
    const onward = {
      target,
      headers,
      requestId,
      answerHeaders: destination.answerHeaders,
      takeLent,
    };
    if (destination.kind === "bucket") {
      const passage = await visit.pass({ upstream: buckets, ...onward });
      if (passage.kind === "failed" && !passage.answerBegan) throw passage.cause;
      return passage;
    }
    headers.push("X-Selvedge-CF", factsFor(request));
    return await this.#toScript(destination.scriptId, ({ upstream }) =>
      visit.pass({ upstream, ...onward }),
    );
  }

  #faultOf(cause: unknown, requestId: string): Refusal {
    const refusal = cause instanceof ScriptRefused ? scriptRefusal(cause.kind) : null;
    if (refusal !== null) return refusal;
    this.#options.log.error("request failed", { request_id: requestId, cause });
    return refusals.internal();
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
