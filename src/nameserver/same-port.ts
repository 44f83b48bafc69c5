/** Opens UDP and TCP on one port, also where any free port will do. RFC 7766 §5. */
import type { HostPort } from "#kit/address.ts";

/** A port that is free for UDP is rarely taken for TCP, and hardly ever time after time. */
const MAX_TRIES = 10;

export async function onSamePort<U extends AsyncDisposable & { readonly address: HostPort }, T>(
  address: HostPort,
  openUdp: () => Promise<U>,
  openTcp: (address: HostPort) => Promise<T>,
): Promise<{ udp: U; tcp: T }> {
  for (let tries = 1; ; tries++) {
    const udp = await openUdp();
    try {
      return { udp, tcp: await openTcp(udp.address) };
    } catch (fault) {
      await udp[Symbol.asyncDispose]();
      if (address.port !== 0 || !isTaken(fault) || tries === MAX_TRIES) throw fault;
    }
  }
}

function isTaken(fault: unknown): boolean {
  const cause = (fault as Error).cause as { readonly code?: unknown } | undefined;
  return cause?.code === "EADDRINUSE";
}
