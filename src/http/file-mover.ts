/**
 * Octets from a file to a connection within the system: they need not come into this process to go out of it. Only
 * what the system has in memory goes so. A disk would hold up the whole thread; what is read from it takes the usual
 * way.
 */
import type { Socket } from "node:net";
import { EAGAIN, type FileCalls, isKnownPlatform, loadFileCalls, RWF_NOWAIT } from "#kit/libc.ts";
import { asOwn } from "./loop/as-own.ts";

/**
 * What goes in one call, and one turn of the loop, for one client. With 16 that take all they can, twice as much has
 * small requests wait as long as copying did; half as much takes a fifth more CPU time.
 */
export const MOST_MOVED_BYTES = 512 * 1024;

/** What is copied to hear when a connection that is full takes more: as little as is worth a call. */
const LITTLE_BYTES = 16 * 1024;

let mover: FileMover | null = null;
let isWanted = false;

/** Null on systems without such calls, and for the first bodies of a thread, until it has them. */
export function fileMover(): FileMover | null {
  if (!isWanted && isKnownPlatform) {
    // Where koffi cannot be loaded, or the library lacks a call, all is the same but slower.
    loadFileCalls().then(
      (calls) => (mover = new FileMover(calls)),
      () => {},
    );
  }
  isWanted = true;
  return mover;
}

export class FileMover {
  readonly #calls: FileCalls;
  /** The place in the file, for sendfile. */
  readonly #place = new BigInt64Array(1);
  /** An iovec for one octet, and an iovec for a few. */
  readonly #vectors = new BigUint64Array(4);
  readonly #octet = new Uint8Array(1);
  readonly #little = Buffer.allocUnsafeSlow(LITTLE_BYTES);
  readonly #placeAddress: number;
  readonly #octetVector: number;
  readonly #littleVector: number;

  constructor(calls: FileCalls) {
    const { addressOf } = calls;
    this.#calls = calls;
    this.#placeAddress = addressOf(this.#place.buffer);
    this.#octetVector = addressOf(this.#vectors.buffer);
    this.#littleVector = this.#octetVector + this.#vectors.byteLength / 2;
    this.#vectors[0] = BigInt(addressOf(this.#octet.buffer));
    this.#vectors[1] = BigInt(this.#octet.length);
    this.#vectors[2] = BigInt(addressOf(this.#little.buffer));
  }

  /** Whether the system has this octet in memory. */
  has(fd: number, at: number): boolean {
    return this.#calls.preadv2(fd, this.#octetVector, 1, at, RWF_NOWAIT) === 1;
  }

  /** How many octets went; none when the connection takes no more, null when it cannot be. It must be a bare one. */
  move(socket: Socket, fd: number, at: number, count: number): number | null {
    this.#place[0] = BigInt(at);
    const own = asOwn(socket);
    if (own !== null) return own.sendFile(fd, this.#placeAddress, count);
    if (socket.writableLength > 0) return 0; // What Node has still to write comes first.
    const moved = this.#calls.sendfile(descriptorOf(socket), fd, this.#placeAddress, count);
    if (moved >= 0) return moved;
    return this.#calls.errno() === EAGAIN ? 0 : null;
  }

  /** A copy of the first octets, if they are still at hand. */
  readLittle(fd: number, at: number, most: number): Buffer | null {
    this.#vectors[3] = BigInt(Math.min(most, LITTLE_BYTES));
    const count = this.#calls.preadv2(fd, this.#littleVector, 1, at, RWF_NOWAIT);
    return count > 0 ? Buffer.from(this.#little.subarray(0, count)) : null;
  }
}

/** Whether octets go out on the connection as they are. One that is encrypted has the same descriptor below it. */
export function isBare(socket: Socket | null): boolean {
  if (socket === null || "encrypted" in socket) return false;
  return asOwn(socket)?.writable ?? descriptorOf(socket) >= 0;
}

/** Below 0 for one that is closed. Not documented: where it is not there, nothing is moved. A test holds it. */
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd ?? -1;
}
