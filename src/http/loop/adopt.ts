/** Connections that Node has made go on in the thread's own loop. */
import type { Socket } from "node:net";
import { F_DUPFD_CLOEXEC } from "#kit/libc.ts";
import { loopAtHand } from "./loop.ts";
import { LoopSocket, type LoopSocketOptions } from "./loop-socket.ts";

/**
 * Nothing may be on its way in either direction, and Node's socket is closed, without a word to those who listen to it.
 * Null where it has to stay Node's: an encrypted one, and where there is no such loop.
 */
export function adopt(socket: Socket, options: LoopSocketOptions): LoopSocket | null {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  const loop = fd < 0 || "encrypted" in socket || socket.writableLength > 0 ? null : loopAtHand();
  if (loop === null) return null;
  // The connection lasts for as long as a descriptor of it is open.
  const own = loop.calls.fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return null;
  const { remoteAddress: host = "", remotePort: port = 0 } = socket;
  const adopted = new LoopSocket(loop, own, { host, port }, options);
  if (!adopted.begin()) {
    loop.calls.close(own);
    return null;
  }
  socket.removeAllListeners();
  socket.on("error", () => {});
  socket.destroy();
  return adopted;
}
