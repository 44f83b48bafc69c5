/** What goes wrong on a connection, as Node would say it. */
import { getSystemErrorName } from "node:util";

export function readError(errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`read ${code}`), { code, errno: -errno, syscall: "read" });
}

export function closedError(): Error {
  return new Error("The connection is closed");
}
