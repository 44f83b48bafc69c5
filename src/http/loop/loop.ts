/** What the connections of a thread share: the calls of the system, who tells what is ready, and room to read into. */
import { isKnownPlatform, loadSocketCalls, type SocketCalls } from "#kit/libc.ts";
import { Batch } from "./batch.ts";
import { Readiness } from "./readiness.ts";

export interface Loop {
  readonly calls: SocketCalls;
  readonly readiness: Readiness;
  readonly batch: Batch;
  /** For one call: what lies there is copied before another is made. */
  readonly room: Buffer;
  readonly roomAddress: number;
}

/** As much as Node reads at once. */
const ROOM_BYTES = 64 * 1024;

let loop: Loop | null = null;
let loading: Promise<Loop | null> | null = null;

/** Null on systems without such calls, and where they cannot be loaded: there Node has all connections. */
export function threadLoop(): Promise<Loop | null> {
  return (loading ??= isKnownPlatform ? makeLoop().catch(() => null) : Promise.resolve(null));
}

/** The same for those who cannot wait: null also until it is there. */
export function loopAtHand(): Loop | null {
  if (loading === null) void threadLoop();
  return loop;
}

async function makeLoop(): Promise<Loop> {
  const calls = await loadSocketCalls();
  const room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  const roomAddress = calls.addressOf(room.buffer);
  const batch = new Batch(calls);
  const readiness = new Readiness(calls, batch);
  return (loop = { calls, readiness, batch, room, roomAddress });
}
