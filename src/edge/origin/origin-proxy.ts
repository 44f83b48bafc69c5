/** Requests for proxied names that no script answers: to the origin of their records, one after the other. */
import type { IncomingMessage } from "node:http";
import { zoneSettingOf } from "#zones";
import type { Asked } from "../destination.ts";
import type { Onward, Passage } from "../pass-on.ts";
import type { KnownName } from "../proxied-names.ts";
import { type Refusal, refusals } from "../refusals.ts";
import { originAddresses, type OriginAddressesOptions } from "./origin-addresses.ts";
import { mayConnect, type OriginPolicy, originPort, originScheme } from "./origin-policy.ts";
import type { OriginPool } from "./origin-pool.ts";

export interface OriginProxyOptions extends OriginAddressesOptions, OriginPolicy {
  readonly pool: OriginPool;
  /** Marks requests that have passed here. RFC 8586. */
  readonly loopMark: string;
  /** Where the edge itself listens: an origin there would be a loop. */
  readonly isEdge: (address: string, port: number) => boolean;
}

export interface OriginRequest extends Omit<Asked, "tlsVersion"> {
  readonly host: string;
  readonly known: KnownName;
  readonly headers: readonly string[];
  readonly answerHeaders: readonly string[];
  readonly requestId: string;
}

/** From the request's last octet to the first of its answer, as the original grants. */
const ANSWER_MS = 100_000;
/** Origins tried for one request. */
const MAX_TRIES = 3;

export class OriginProxy {
  readonly #options: OriginProxyOptions;

  constructor(options: OriginProxyOptions) {
    this.#options = options;
  }

  async pass(
    request: IncomingMessage,
    asked: OriginRequest,
    pass: (onward: Onward) => Promise<Passage>,
  ): Promise<Refusal | Passage> {
    const { pool, loopMark } = this.#options;
    const loops = request.headers["cdn-loop"];
    if (typeof loops === "string" && loops.includes(loopMark)) return refusals.loop(asked.hostname);
    const ssl = zoneSettingOf(asked.known.zone.settings, "ssl");
    const { scheme, verifies } = originScheme(ssl, asked.scheme);
    const port = originPort(scheme, asked.scheme, asked.host);
    const usable = await this.#usable(asked, port);
    if (!Array.isArray(usable)) return usable as Refusal;
    const headers = [
      ...asked.headers,
      "CDN-Loop",
      loops === undefined ? loopMark : `${String(loops)}, ${loopMark}`,
    ];
    let last: Passage | null = null;
    for (const address of pool.inOrder(usable as string[], port).slice(0, MAX_TRIES)) {
      const origin = { scheme, address, port, serverName: asked.hostname, verifies };
      const { target, requestId, answerHeaders } = asked;
      const upstream = pool.upstream(origin);
      last = await pass({
        upstream,
        target,
        headers,
        requestId,
        answerHeaders,
        answerMs: ANSWER_MS,
      });
      if (last.kind !== "failed") return last;
      if (!last.answerBegan) pool.noteFailure(origin);
      if (!last.mayGoElsewhere) break;
    }
    return last?.kind === "failed" && !last.answerBegan ? originRefusal(last.cause) : last!;
  }

  async #usable(asked: OriginRequest, port: number): Promise<readonly string[] | Refusal> {
    const { isEdge } = this.#options;
    const addresses = await originAddresses(asked.known, this.#options);
    if (addresses.length === 0) return refusals.noOriginAddress(asked.hostname);
    const elsewhere = addresses.filter((address) => !isEdge(address, port));
    if (elsewhere.length === 0) return refusals.loop(asked.hostname);
    const allowed = elsewhere.filter((address) => mayConnect(address, this.#options));
    return allowed.length === 0 ? refusals.internalOrigin(asked.hostname) : allowed;
  }
}

/** Why an origin gave no answer, in words for whoever visits. */
function originRefusal(cause: NodeJS.ErrnoException): Refusal {
  const { code = "", message } = cause;
  if (code === "ETIMEDOUT" || /^No (?:connection|answer) within/.test(message)) {
    return refusals.originTimeout();
  }
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) {
    return refusals.originTls();
  }
  return refusals.originDown();
}
