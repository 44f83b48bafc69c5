/** Which addresses of a name may be asked, and how: judged once for as long as the list of them is the same. */
import type { Asked, ServedZone } from "../destination.ts";
import { type Refusal, refusals } from "../refusals.ts";
import { mayConnect, type OriginPolicy, originPort, originScheme } from "./origin-policy.ts";
import type { Origin } from "./origin-pool.ts";

export interface UsableOriginsOptions extends OriginPolicy {
  /** Where the edge itself listens: an origin there would be a loop. */
  readonly isEdge: (address: string, port: number) => boolean;
}

/** What the request tells of how its origin is asked. */
interface For extends Pick<Asked, "scheme" | "hostname"> {
  readonly host: string;
  readonly zone: ServedZone;
}

interface Judged {
  readonly host: string;
  readonly scheme: Asked["scheme"];
  readonly ssl: unknown;
  readonly usable: readonly Origin[] | Refusal;
}

export class UsableOrigins {
  readonly #options: UsableOriginsOptions;
  /** By the list itself, which nobody changes: of each, how it was asked for last. */
  readonly #judged = new WeakMap<readonly string[], Judged>();

  constructor(options: UsableOriginsOptions) {
    this.#options = options;
  }

  /** Or why there are none. */
  of(asked: For, addresses: readonly string[]): readonly Origin[] | Refusal {
    const { scheme, host, zone } = asked;
    const known = this.#judged.get(addresses);
    if (known?.host === host && known.scheme === scheme && known.ssl === zone.ssl) {
      return known.usable;
    }
    const usable = this.#judge(asked, addresses);
    this.#judged.set(addresses, { scheme, host, ssl: zone.ssl, usable });
    return usable;
  }

  #judge({ scheme: from, host, hostname, zone }: For, addresses: readonly string[]) {
    const { scheme, verifies } = originScheme(zone.ssl, from);
    const port = originPort(scheme, from, host);
    if (addresses.length === 0) return refusals.noOriginAddress(hostname);
    const elsewhere = addresses.filter((address) => !this.#options.isEdge(address, port));
    if (elsewhere.length === 0) return refusals.loop(hostname);
    const allowed = elsewhere.filter((address) => mayConnect(address, this.#options));
    if (allowed.length === 0) return refusals.internalOrigin(hostname);
    return allowed.map((address): Origin => ({
      scheme,
      address,
      port,
      serverName: hostname,
      verifies,
    }));
  }
}
