/** What DNS over TCP and TLS grants a client. RFC 7766 §6, RFC 9210 §4. */
export interface StreamLimits {
  /** In all. At the limit the connection that has been quiet the longest makes room. */
  readonly connections: number;
  /** From one IPv4 address or one IPv6 /64; more are closed at once. */
  readonly connectionsPerSource: number;
  /** Ranges without a limit of their own. */
  readonly exempt: readonly string[];
  /** Queries of a connection that wait for an outside name, and their octets; then it is not read. */
  readonly unanswered: number;
  readonly unansweredBytes: number;
  /** Octets that a client has not taken yet; with more of them its connection is not read. */
  readonly unsentBytes: number;
  /** A connection without a query is closed after this, */
  readonly idleMs: number;
  /** or after this when there is hardly room for others. */
  readonly shortIdleMs: number;
  /** From the first octet of a message, or of a TLS handshake, to the last. */
  readonly messageMs: number;
  /** A client that takes nothing of its answers for this long has gone. */
  readonly stuckMs: number;
  /** What is in flight at a stop has this long to finish. */
  readonly drainMs: number;
}

export const defaultStreamLimits: StreamLimits = {
  connections: 2_000,
  connectionsPerSource: 20,
  exempt: ["127.0.0.0/8", "::1"],
  unanswered: 100,
  unansweredBytes: 64 * 1024,
  unsentBytes: 64 * 1024,
  idleMs: 10_000,
  shortIdleMs: 1_000,
  messageMs: 5_000,
  stuckMs: 10_000,
  drainMs: 2_000,
};

/**
 * How long a connection may be quiet while so many are open: the full time up to half of the limit,
 * then less in a straight line down to the short time at the limit.
 */
export function idleMsAt(
  open: number,
  {
    connections,
    idleMs,
    shortIdleMs,
  }: Pick<StreamLimits, "connections" | "idleMs" | "shortIdleMs">,
): number {
  const crowded = Math.min(1, Math.max(0, (2 * open) / connections - 1));
  return idleMs - (idleMs - shortIdleMs) * crowded;
}
