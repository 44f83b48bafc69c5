/** Why an address cannot be listened on, as a sentence for the person who chose it. */
import { type HostPort, printHostPort } from "./address.ts";

export function listenFault(
  address: HostPort,
  /** What sets the address: `--api`. */
  flag: string,
  cause: { readonly code?: string | undefined; readonly message: string },
): Error {
  return new Error(`Cannot listen on ${printHostPort(address)} (${flag}): ${whyNot(cause)}`, {
    cause,
  });
}

function whyNot({ code, message }: Parameters<typeof listenFault>[2]): string {
  if (code === "EADDRINUSE")
    return "another program uses this port. Choose another, or 0 for a free one.";
  if (code === "EACCES") return "this port needs more rights. Choose one above 1023.";
  if (code === "EADDRNOTAVAIL") return "this machine does not have that address.";
  if (code === "ENOTFOUND") return "this host name has no address.";
  return `${message}.`;
}
