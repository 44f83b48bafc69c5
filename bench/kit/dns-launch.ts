/** Starts a nameserver and waits until it answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { Contender, Running } from "./contender.ts";
import { untilAnswering } from "./dns-ask.ts";
import type { DnsFiles } from "./dns-files.ts";
import { type DnsPeer, PATH } from "./dns-peers.ts";
import type { Leftovers } from "./leftovers.ts";

/** The end of its output is kept for the error message. */
const KEPT_CHARACTERS = 4_000;

/** Tries at a port that is free for UDP and for TCP; the second nearly always is one. */
const PORT_TRIES = 20;

/** A nameserver; `startMs` of its runs is the time from the spawn to the first right answers. */
export interface DnsContender extends Contender {
  readonly key: string;
}

/** A peer with these zones, or with none. */
export function dnsPeer(
  leftovers: Leftovers,
  { peer, name, files }: { peer: DnsPeer; name: string; files: DnsFiles | null },
): DnsContender {
  return {
    key: peer.key,
    name,
    async start() {
      await using undo = new AsyncDisposableStack(); // If the start fails, stops what was started.
      const folder = await leftovers.folder();
      undo.defer(() => leftovers.remove(folder));
      const port = await freeDnsPort();
      const args = peer.configure({ folder, port, zones: files?.zones ?? [] });
      const began = performance.now();
      const child = spawn(peer.program, args, {
        cwd: folder,
        env: { ...process.env, PATH },
        stdio: ["ignore", "pipe", "pipe"],
      });
      leftovers.track(child);
      undo.defer(() => leftovers.stop(child));
      await answering(child, name, port, files);
      const startMs = performance.now() - began;
      return runningOf(undo.move(), { pid: child.pid!, port, startMs });
    },
  };
}

async function answering(
  child: ChildProcess,
  name: string,
  port: number,
  files: DnsFiles | null,
): Promise<void> {
  let output = "";
  let failure: string | null = null;
  const hear = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-KEPT_CHARACTERS);
  };
  child.stdout!.on("data", hear); // Read to the end: a full pipe would hold it up.
  child.stderr!.on("data", hear);
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code, signal) => (failure = `it ended with ${signal ?? code}`));
  await untilAnswering(port, files?.first ?? [], () => failure).catch((error: Error) => {
    throw new Error(`Cannot start ${name}: ${error.message}\n${output}`);
  });
}

export function runningOf(
  stop: AsyncDisposableStack,
  { pid, port, startMs }: { pid: number; port: number; startMs: number },
): Running {
  const address = `127.0.0.1:${port}`;
  return { pid, address, startMs, [Symbol.asyncDispose]: () => stop.disposeAsync() };
}

export function portOf({ address }: Running): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

/** It may be taken again before the server binds it; then the start fails and says so. */
export async function freeDnsPort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = await freeUdpPort();
    if (await isFreeForTcp(port)) return port;
  }
  throw new Error("Cannot find a port that is free for UDP and for TCP");
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

function isFreeForTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
