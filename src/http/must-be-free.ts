/** Threads share an address with whoever asks for that; another server may not be among them. */
import { createServer } from "node:net";
import type { HostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";

/** Throws a sentence that names the flag when somebody listens there already. */
export async function mustBeFree(address: HostPort, flag: string): Promise<void> {
  if (address.port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const server = createServer();
    server.once("error", (cause) => reject(listenFault(address, flag, cause)));
    server.listen({ ...address }, () => server.close(() => resolve()));
  });
}
