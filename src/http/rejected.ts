/** Requests that never became one: the parser or a clock stopped them. */

export interface RejectedRequest {
  readonly status: 400 | 408 | 417 | 431;
  /** The connection ended before the body did. */
  readonly isCutShort?: boolean;
}

export interface RejectedReply {
  readonly type: string;
  readonly body: string;
  readonly requestId: string;
  /** Where the door has another for it. */
  readonly status?: number;
  /** In place of `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>>;
}
