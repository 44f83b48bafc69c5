/** What is known of one name outside, and what is to be said of it. RFC 2308, RFC 8767, RFC 9520. */
import { EDE } from "../codes.ts";
import type { Timed } from "./deadlines.ts";
import type { Linked } from "./recency.ts";
import { LONGEST_RESOLUTION_MS, type Resolution } from "./resolver.ts";
import { STALE_TTL_SECONDS, type TargetEntry, type TargetType } from "./target-store.ts";

/** Less would have busy names resolved all the time, whatever their owners say. */
const MIN_TTL_SECONDS = 5;
/** An hour: what an owner changes is seen the same hour, whatever TTL it had. */
const MAX_TTL_SECONDS = 3600;
/** Five minutes: someone may be waiting for the name to appear. */
const MAX_NEGATIVE_TTL_SECONDS = 300;
/** From what part of its life on an entry that is in use is learnt anew. */
const REFRESH_PART = 0.9;

/** The wait after the first failure; it doubles with each further one. RFC 9520 §3.2. */
const FIRST_RETRY_MS = 5000;
/** The longest wait that RFC 9520 §3.2 allows. */
const LAST_RETRY_MS = 300_000;
/** When no resolver answered it is not the target's fault, and it should be seen soon when one does. */
const LAST_NETWORK_RETRY_MS = 30_000;

/** A day: long enough to mend a resolver, short enough that addresses have seldom gone to others. RFC 8767 §5. */
const STALE_MS = 24 * 3600_000;

/** A store may keep whole seconds, and so see an entry end this much earlier. */
const STORE_PRECISION_MS = 1000;

const NONE = new Uint8Array(0);

export interface Target extends Timed, Linked<Target> {
  readonly name: string;
  readonly type: TargetType;
  /** The last that a resolver told, however old. */
  known: TargetEntry | null;
  /** What stands in the store. */
  entry: TargetEntry | null;
  /** Not to be resolved before; from then on in the background, if it is in use. */
  refreshAt: number;
  /** How many resolutions failed since the last that did not. */
  failures: number;
  /** The extended error of the last failure. */
  ede: number | null;
  /** Seen as used, and not yet acted upon. */
  asked: boolean;
  flight: Flight | null;
}

/** A resolution under way. */
export interface Flight {
  /** Nobody waited for it when it began. */
  readonly isRefresh: boolean;
  /** For those who wait now. */
  waiting: (PromiseWithResolvers<void> & { cancelBudget: () => void }) | null;
}

export function newTarget(name: string, type: TargetType): Target {
  return {
    name,
    type,
    known: null,
    entry: null,
    refreshAt: 0,
    failures: 0,
    ede: null,
    asked: false,
    flight: null,
    dueAt: 0,
    place: -1,
    older: null,
    newer: null,
  };
}

/** Takes in what a resolver told. */
export function learn(
  target: Target,
  resolution: Exclude<Resolution, { kind: "failure" }>,
  now: number,
): void {
  const isNegative = resolution.kind === "nodata";
  const most = isNegative ? MAX_NEGATIVE_TTL_SECONDS : MAX_TTL_SECONDS;
  const ttlSeconds = Math.max(MIN_TTL_SECONDS, Math.min(most, resolution.ttlSeconds));
  const addresses = isNegative ? NONE : resolution.addresses;
  const expiresAt = now + ttlSeconds * 1000;
  target.known = {
    kind: resolution.kind,
    addresses,
    ttlSeconds,
    expiresAt,
    stale: false,
    ede: null,
  };
  target.failures = 0;
  target.refreshAt = Math.min(
    now + ttlSeconds * 1000 * REFRESH_PART,
    expiresAt - STORE_PRECISION_MS, // From then on readers may find nothing, and want it.
  );
}

/** Takes in that no resolver could tell. */
export function noteFailure(target: Target, ede: number, now: number): void {
  const most = ede === EDE.NETWORK_ERROR ? LAST_NETWORK_RETRY_MS : LAST_RETRY_MS;
  target.refreshAt = now + Math.min(most, FIRST_RETRY_MS * 2 ** target.failures);
  target.failures++;
  target.ede = ede;
}

/** Whether what ends at that time is of any use to a reader of the store. */
export function isUsable(expiresAt: number, now: number): boolean {
  return expiresAt - STORE_PRECISION_MS > now;
}

/**
 * What is said now: what is known while it lasts, then the same as stale, or that it failed. The latter stand
 * through the resolution that comes at `until`, so that no client waits for a resolver that is down.
 */
export function entryFor({ known, ede }: Target, now: number, until: number): TargetEntry {
  if (known !== null && isUsable(known.expiresAt, now)) return known;
  const expiresAt = until + LONGEST_RESOLUTION_MS;
  if (known === null || !isUsable(known.expiresAt + STALE_MS, now)) {
    return { kind: "failure", addresses: NONE, ttlSeconds: 0, expiresAt, stale: false, ede };
  }
  return {
    ...known,
    ttlSeconds: STALE_TTL_SECONDS,
    expiresAt: Math.min(expiresAt, known.expiresAt + STALE_MS),
    stale: true,
  };
}

/** When a target that nobody asks for is worth no more memory. */
export function forgetAt({ known, refreshAt }: Target): number {
  return known === null ? refreshAt + LAST_RETRY_MS : known.expiresAt + STALE_MS;
}
