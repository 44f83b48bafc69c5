/** Connections to origins, kept by where they lead, and which origins have failed of late. */
import { connect as connectTcp, type OnReadOpts } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import { Upstream } from "#http";

export interface Origin {
  readonly scheme: "http" | "https";
  readonly address: string;
  readonly port: number;
  /** The name that the request is for: what TLS asks for, and is shown. */
  readonly serverName: string;
  /** Whether its certificate must be good for that name. */
  readonly verifies: boolean;
}

export interface OriginPoolOptions {
  readonly now: () => number;
  /** Certificates that are trusted beside the usual ones. */
  readonly secureContext?: SecureContext;
}

/** Most servers keep an idle connection for at least this long. */
const IDLE_MS = 4_000;
const CONNECT_MS = 5_000;
/** Places that connections are kept to at a time. */
const MAX_KEPT = 2_000;
/** An origin that could not be reached is asked last for so long. */
const FAILED_MS = 10_000;

export class OriginPool implements Disposable {
  readonly #options: OriginPoolOptions;
  readonly #upstreams = new Map<string, Upstream>();
  /** The same for origins that come again. */
  readonly #known = new WeakMap<Origin, Upstream>();
  readonly #failedUntil = new Map<string, number>();
  #turn = 0;

  constructor(options: OriginPoolOptions) {
    this.#options = options;
  }

  /** In the order to try them: in turns, those that failed of late last. */
  inOrder(origins: readonly Origin[]): readonly Origin[] {
    if (origins.length < 2) return origins;
    const first = this.#turn++ % origins.length;
    const turned = [...origins.slice(first), ...origins.slice(0, first)];
    const now = this.#options.now();
    const hasFailed = ({ address, port }: Origin) =>
      (this.#failedUntil.get(`${address} ${port}`) ?? 0) > now;
    return [...turned.filter((one) => !hasFailed(one)), ...turned.filter(hasFailed)];
  }

  noteFailure({ address, port }: Origin): void {
    if (this.#failedUntil.size >= MAX_KEPT) this.#failedUntil.clear();
    this.#failedUntil.set(`${address} ${port}`, this.#options.now() + FAILED_MS);
  }

  upstream(origin: Origin): Upstream {
    const known = this.#known.get(origin);
    if (known?.isOpen === true) return known;
    const upstream = this.#upstreamTo(origin);
    this.#known.set(origin, upstream);
    return upstream;
  }

  #upstreamTo(origin: Origin): Upstream {
    const { scheme, address, port, serverName, verifies } = origin;
    const key =
      scheme === "http" ? `${address} ${port}` : `${address} ${port} ${serverName} ${verifies}`;
    let upstream = this.#upstreams.get(key);
    if (upstream !== undefined) return upstream;
    upstream = new Upstream({
      target: (onread) => this.#connect(origin, onread),
      readsAtOnce: Infinity,
      idleMs: IDLE_MS,
      connectMs: CONNECT_MS,
    });
    if (this.#upstreams.size >= MAX_KEPT) this.#forgetOne();
    this.#upstreams.set(key, upstream);
    return upstream;
  }

  [Symbol.dispose](): void {
    for (const upstream of this.#upstreams.values()) upstream[Symbol.dispose]();
    this.#upstreams.clear();
  }

  #connect({ scheme, address, port, serverName, verifies }: Origin, onread: OnReadOpts) {
    if (scheme === "http") return connectTcp({ host: address, port, onread });
    return connectTls({
      host: address,
      port,
      servername: serverName,
      rejectUnauthorized: verifies,
      ALPNProtocols: ["http/1.1"],
      ...(this.#options.secureContext && { secureContext: this.#options.secureContext }),
    });
  }

  /** Of those on which nothing is under way, the one made longest ago. */
  #forgetOne(): void {
    for (const [key, upstream] of this.#upstreams) {
      if (upstream.isBusy) continue;
      upstream[Symbol.dispose]();
      this.#upstreams.delete(key);
      return;
    }
  }
}
