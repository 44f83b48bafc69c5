/** Writes bodies to files in large pieces, whatever the size of their chunks. */
import { BufferPool } from "#kit/buffer-pool.ts";
import type { Body } from "../model.ts";
import { type Disk, diskFault } from "./disk.ts";

/**
 * Octets gathered for one write. More gains nothing that can be measured, and each body holds as much. A chunk of this
 * size is written as it is: copying it would cost more than another write.
 */
const SLAB_BYTES = 256 * 1024;

/** Slabs that are kept for the next bodies. */
const MAX_FREE_SLABS = 16;

export class SlabWriter {
  readonly #disk: Disk;
  readonly #slabs = new BufferPool(SLAB_BYTES, MAX_FREE_SLABS);

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /**
   * Copies small chunks: they are few octets of the whole time, and whoever fills the same chunk anew
   * would otherwise change what was to be written.
   */
  async write(body: Body, openFile: () => Promise<number>): Promise<void> {
    let slab: Buffer | null = null; // Bodies in large chunks need none.
    let filled = 0;
    let at = 0;
    const flush = async (bytes: Uint8Array) => {
      await this.#writeAll(await openFile(), bytes, at);
      at += bytes.length;
    };
    try {
      for await (const chunk of body) {
        for (let rest = chunk; rest.length > 0;) {
          if (filled === 0 && rest.length >= SLAB_BYTES) {
            await flush(rest);
            break;
          }
          slab ??= this.#slabs.take();
          const some = rest.subarray(0, SLAB_BYTES - filled);
          slab.set(some, filled);
          filled += some.length;
          rest = rest.subarray(some.length);
          if (filled < SLAB_BYTES) break;
          await flush(slab);
          filled = 0;
        }
      }
      if (filled > 0) await flush(slab!.subarray(0, filled));
    } finally {
      if (slab !== null) this.#slabs.give(slab);
    }
  }

  /** The system may write less than it was given, most often before it refuses the rest. */
  async #writeAll(fd: number, bytes: Uint8Array, at: number): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const rest = written === 0 ? bytes : bytes.subarray(written);
      const count = await this.#disk.write(fd, rest, at + written).catch((cause: unknown) => {
        throw diskFault("write", cause);
      });
      if (count === 0) throw diskFault("write", new Error("nothing was written"));
      written += count;
    }
  }
}
