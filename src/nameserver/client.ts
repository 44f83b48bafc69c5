/** Who asks, and over what. */

export const TRANSPORT = { udp: 0, tcp: 1, tls: 2, https: 3 } as const;

/** One object a thread or connection, filled anew for each message. */
export interface Client {
  transport: number;
  /** The first 4 or 16 octets count. */
  readonly address: Uint8Array;
  addressLength: number;
  port: number;
}

/** What passes every network unfragmented; sent and received. RFC 9715 §3.1. */
export const UDP_PAYLOAD_OCTETS = 1232;
/** Without EDNS. RFC 1035 §4.2.1. */
export const PLAIN_UDP_OCTETS = 512;
/** A stream's length field has 16 bits. */
export const STREAM_OCTETS = 0xffff;

/** Whether the client is on a connection that stays. */
export function isStream({ transport }: Client): boolean {
  return transport === TRANSPORT.tcp || transport === TRANSPORT.tls;
}
