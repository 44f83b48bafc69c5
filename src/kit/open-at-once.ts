/**
 * Opens files to read whose way the system has in memory, as it has of those that were opened not long ago. To have another
 * thread open them takes Node five times as long; a disk would hold up this thread, so what is not in memory is left to it.
 */
import {
  AT_FDCWD,
  type FileCalls,
  isKnownPlatform,
  loadFileCalls,
  O_CLOEXEC,
  RESOLVE_CACHED,
  SYS_OPENAT2,
} from "./libc.ts";

let opener: Opener | null = null;
let isWanted = false;

/** Null where that would have to wait or cannot be done: also when there is no such file. */
export function openAtOnce(path: string): number | null {
  if (!isWanted && isKnownPlatform) {
    // Where koffi cannot be loaded, or the system is older than this call, all is the same but slower.
    loadFileCalls().then(
      (calls) => (opener = new Opener(calls)),
      () => {},
    );
  }
  isWanted = true;
  return opener?.open(path) ?? null;
}

class Opener {
  readonly #calls: FileCalls;
  /** struct open_how: flags, mode, resolve. */
  readonly #how = new BigUint64Array([BigInt(O_CLOEXEC), 0n, BigInt(RESOLVE_CACHED)]);
  readonly #howAddress: number;

  constructor(calls: FileCalls) {
    this.#calls = calls;
    this.#howAddress = calls.addressOf(this.#how.buffer);
  }

  open(path: string): number | null {
    const size = this.#how.byteLength;
    const fd = this.#calls.openat2(SYS_OPENAT2, AT_FDCWD, path, this.#howAddress, size);
    return fd < 0 ? null : fd;
  }
}
