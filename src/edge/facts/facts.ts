/** What threads of the edge are told of the names that they serve: plain data, put together on the main thread. */
import type { Depends } from "#kit/generations.ts";
import type { PlacedRoutes } from "#scripts";
import type { CacheLevel } from "../cache/messages.ts";

export interface Fact<T> {
  readonly value: T;
  /** Null for what is good for one use only. */
  readonly depends: Depends | null;
  /** When it is to be asked for again though nothing has changed, in ms since the epoch. */
  readonly until?: number;
}

export type HostFacts =
  /** It lies in no zone here. */
  | { readonly kind: "unknown" }
  /** A hostname of a script's own under the platform's domain for scripts. */
  | { readonly kind: "script"; readonly scriptId: string }
  /** Null is a name that is DNS-only or does not exist. */
  | {
      readonly kind: "name";
      readonly zoneName: string;
      readonly origin: OriginFacts | null;
      /** A bucket answers there, where no script does. */
      readonly isBucket?: boolean;
    };

/** Where the records of a name lead: to addresses, or to a name that lies outside. */
export type OriginFacts = { readonly addresses: readonly string[] } | { readonly outside: string };

/** What a zone asks of all requests for its names. */
export interface ZoneFacts {
  readonly id: string;
  /** Clients of HTTP are sent to HTTPS. */
  readonly httpsOnly: boolean;
  readonly tls13Only: boolean;
  /** What answers over HTTPS get beside their own headers. */
  readonly securityHeaders: readonly string[];
  /** How origins are asked. */
  readonly ssl: unknown;
  readonly cacheLevel: CacheLevel;
  readonly developmentModeEnds: number;
  /** The least that browsers keep what the cache has; 0 leaves it to the origin. */
  readonly browserTtlSeconds: number;
  readonly routes: PlacedRoutes;
}

/** In PEM; `cert` has the chain. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}
