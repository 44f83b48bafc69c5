/** What an HTTP door grants a client. Every figure comes from the configuration. */
export interface HttpLimits {
  /** Request line and headers together. */
  readonly headerBytes: number;
  /** From the first byte of a request to the last of its headers. */
  readonly headerSeconds: number;
  /** From a request's head to the last byte of its body, and more while that keeps moving. */
  readonly requestSeconds: number;
  /** A connection on which nothing moves is closed after this. */
  readonly idleSeconds: number;
  readonly connections: number;
  /** Connections from one IPv4 address or one IPv6 /64. */
  readonly connectionsPerSource: number;
  /** What is in flight at a stop has this long to finish. */
  readonly drainSeconds: number;
}
