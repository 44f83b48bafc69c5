/** The memory that octets pass through on their way to a client. */
import { BufferPool } from "#kit/buffer-pool.ts";

/** A little more than a unix socket holds. Half the size makes more calls of the system, twice the size leaves the cache. */
const BUFFER_BYTES = 256 * 1024;

/** 16 MiB: what some thirty answers at a time take. */
const MOST_FREE = 64;

export const transferBuffers = new BufferPool(BUFFER_BYTES, MOST_FREE);
