/** HOST:PORT as people write it: `127.0.0.1:53`, `[::1]:53`, `localhost:0`. */

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;

/** Reads HOST:PORT; port 0 means any free one. Throws a sentence that says what is wrong. */
export function parseHostPort(text: string): HostPort {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text);
  if (match === null)
    throw new Error("expected HOST:PORT, for example 127.0.0.1:8700 or [::1]:8700");
  const port = Number(match[3]);
  if (port > MAX_PORT) throw new Error(`the port must be from 0 to ${MAX_PORT}`);
  return { host: (match[1] ?? match[2])!, port };
}

/** Prints what `parseHostPort` reads. */
export function printHostPort({ host, port }: HostPort): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
