/**
 * Descriptors that a thread has from the system and not from Node, who would close them when the thread ends. They are
 * all in an epoll of the thread's, which the system shows to the whole process: so the main thread can close them when
 * the thread could not, and clients are not left with connections that nobody serves.
 */
import { closeSync, readFileSync } from "node:fs";
import {
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  threadId,
  type Worker,
} from "node:worker_threads";

const KEY = "selvedge: descriptors of threads";
/** More than a process has cores. Threads beyond have nothing closed for them. */
const MOST_THREADS = 256;

/** Pairs: a thread's id, and its epoll. A pair with no thread is free. Threads have it from when they are started. */
const places = ((): Int32Array => {
  const known = getEnvironmentData(KEY) as Int32Array | undefined;
  if (known !== undefined || !isMainThread) return known ?? new Int32Array(0);
  const made = new Int32Array(
    new SharedArrayBuffer(MOST_THREADS * 2 * Int32Array.BYTES_PER_ELEMENT),
  );
  setEnvironmentData(KEY, made);
  return made;
})();

/** What is in this epoll belongs to this thread. */
export function ownDescriptors(epoll: number): void {
  if (isMainThread) return;
  for (let i = 0; i < places.length; i += 2) {
    if (Atomics.compareExchange(places, i, 0, threadId) !== 0) continue;
    Atomics.store(places, i + 1, epoll);
    return;
  }
}

/** Closes what a thread leaves when it ends. To be called when it is started. */
export function closeAtEnd(worker: Worker): void {
  const { threadId: id } = worker; // Gone when it has ended.
  worker.once("exit", () => {
    for (let i = 0; i < places.length; i += 2) {
      if (Atomics.load(places, i) !== id) continue;
      const epoll = Atomics.exchange(places, i + 1, 0);
      if (epoll > 0) closeAll(epoll);
      Atomics.store(places, i, 0);
    }
  });
}

function closeAll(epoll: number): void {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${epoll}`, "latin1");
    for (const [, fd] of text.matchAll(/^tfd:\s+(\d+)/gm)) closeSync(Number(fd));
    closeSync(epoll);
  } catch {
    // Without /proc they stay open; the process must not end of it.
  }
}
