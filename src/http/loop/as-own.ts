/** Connections of the thread's own loop pass for sockets of Node's; those who treat them otherwise find out here. */
import { LoopSocket } from "./loop-socket.ts";

/** Null for one of Node's. */
export function asOwn(socket: unknown): LoopSocket | null {
  return socket instanceof LoopSocket ? socket : null;
}
