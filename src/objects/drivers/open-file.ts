/** A blob's file that is open for one reader. */
import type { Offer } from "#kit/outlet.ts";
import type { OpenBlob } from "../driver.ts";
import { ObjectFault } from "../fault.ts";
import type { Body, ByteRange } from "../model.ts";
import { type Disk, diskFault, systemDisk } from "./disk.ts";

/**
 * Octets read at once. Half the size costs a third more time for a large blob, twice the size gains
 * nothing that can be measured, and each reader holds as much.
 */
const CHUNK_BYTES = 512 * 1024;

/** The same into room of the reader's own, which costs no more memory: a thread is busy with it for a millisecond. */
const MOST_ROOM_BYTES = 4 * 1024 * 1024;

/** Less room than this is not read into: each read has its price, and a reader may have only a few octets. */
const LEAST_ROOM_BYTES = 64 * 1024;

/** Stands for octets that went past their reader. */
const MOVED = { done: false, value: new Uint8Array(0) } as const;

export class OpenFile implements OpenBlob {
  readonly size: number;
  readonly #disk: Disk;
  #fd: number | null;
  /** Ends with the read that is under way, which must not meet a closed file. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk, fd: number) {
    this.#disk = disk;
    this.#fd = fd;
    this.size = disk.size(fd);
  }

  /** Not a generator: one that is returned before its start would not close the file. */
  read({ offset, length }: ByteRange): Body {
    const end = offset + length;
    let at = offset;
    const next = async (offer?: Offer): Promise<IteratorResult<Uint8Array, undefined>> => {
      if (at === end) return finish();
      const moved = this.#move(offer, at, end - at);
      at += moved;
      // It may still be on its way: the file is closed when more is asked for.
      if (moved > 0) return MOVED;
      const chunk = chunkFor(end - at, offer);
      try {
        this.#reading = this.#fill(chunk, at);
        await this.#reading;
      } catch (error) {
        await finish();
        throw error;
      }
      at += chunk.length;
      if (at === end) await this[Symbol.asyncDispose]();
      return { done: false, value: chunk };
    };
    const finish = async (): Promise<IteratorReturnResult<undefined>> => {
      at = end;
      await this[Symbol.asyncDispose]();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: finish }) };
  }

  #move(offer: Offer | undefined, at: number, most: number): number {
    const canMove = this.#fd !== null && offer !== undefined && !(offer instanceof Uint8Array);
    return canMove ? offer.move(this.#fd!, at, most) : 0;
  }

  async #fill(chunk: Uint8Array, at: number): Promise<void> {
    for (let filled = 0; filled < chunk.length;) {
      if (this.#fd === null) throw new ObjectFault("unavailable", "Cannot read a closed blob.");
      const count = await this.#disk
        .read(this.#fd, filled === 0 ? chunk : chunk.subarray(filled), at + filled)
        .catch((cause: unknown) => {
          throw diskFault("read", cause);
        });
      if (count === 0) {
        const where = `its file ends after ${at + filled} octets`;
        throw new ObjectFault("unavailable", `Cannot read a blob: ${where}.`);
      }
      filled += count;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const fd = this.#fd;
    this.#fd = null;
    if (fd === null) return;
    await this.#reading.catch(() => {}); // Whoever reads hears of it.
    this.#disk.leave(fd);
  }
}

/** Octets of a file that another thread has open, and closes. */
export function octetsOfOpen(fd: number, range: ByteRange): AsyncIterator<Uint8Array> {
  const file = new OpenFile({ ...systemDisk, leave: () => {} }, fd);
  return file.read(range)[Symbol.asyncIterator]();
}

/** New unless there is room: the consumer may still hold the last, in the queue of a socket. */
function chunkFor(left: number, offer: Offer | undefined): Uint8Array {
  const room = offer === undefined || offer instanceof Uint8Array ? offer : offer.room();
  if (room === undefined || room.length < Math.min(LEAST_ROOM_BYTES, left)) {
    return Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
  }
  return room.subarray(0, Math.min(MOST_ROOM_BYTES, left));
}
