/** Connections to servers that close before they have read what they were sent. */
import type { Socket } from "node:net";

type WriteDone = (error?: Error | null) => void;

/**
 * A server may answer and close before it has read the body. Node would end the socket with the first write that
 * fails, and the answer that waits in it with that; so such writes count as done, and the end of what can be
 * read tells how it went. `_write` and `_writev` are what a stream is made of, and may be given anew.
 */
export function outliveBrokenPipe(socket: Socket): void {
  const [one, many] = ["_write", "_writev"] as const;
  const write = socket[one].bind(socket);
  const writev = socket[many]?.bind(socket);
  const unlessBroken =
    (done: WriteDone): WriteDone =>
    (error) =>
      done((error as NodeJS.ErrnoException | null)?.code === "EPIPE" ? null : error);
  socket[one] = (chunk, encoding, done) => write(chunk, encoding, unlessBroken(done));
  if (writev === undefined) return;
  socket[many] = (chunks, done) => writev(chunks, unlessBroken(done));
}
