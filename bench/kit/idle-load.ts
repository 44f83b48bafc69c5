/** Opens connections, has one answer on each, and holds them until it is stopped. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { serveJobs } from "./load-process.ts";
import { ResponseReader } from "./response-reader.ts";

export interface IdleJob {
  readonly host: string;
  readonly port: number;
  /** The name to ask for with TLS; null without. */
  readonly servername: string | null;
  readonly request: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Opened at the same time: less than a listener's queue holds. */
const AT_ONCE = 64;

const held: Socket[] = [];

async function hold(job: IdleJob): Promise<number> {
  const some = async () => {
    while (held.length < job.connections) held.push(await answered(open(job), job.request));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  const gone = held.filter((socket) => socket.closed).length;
  if (gone > 0) throw new Error(`The server closed ${gone} connections`);
  return held.length;
}

function open({ host, port, servername }: IdleJob): Socket {
  if (servername === null) return connect({ host, port });
  return connectTls({ host, port, servername, rejectUnauthorized: false });
}

function answered(socket: Socket, request: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const reader = new ResponseReader();
  socket.on("data", (chunk: Buffer) => {
    if (reader.take(chunk, chunk.length) > 0) resolve(socket);
  });
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("The server closed a connection")));
  socket.write(request);
  return promise;
}

if (import.meta.main) serveJobs(hold);
