/** A program that fills a cache on disk until it is killed; it writes a line for each body that is there. */
import { createHash } from "node:crypto";
import { DiskLedger } from "./disk-ledger.ts";
import { DiskStore } from "./disk-store.ts";
import { octetsOf, World } from "./origin.contract.ts";

/** Small ones lie in their heads, large ones in files of their own. */
const SIZES = [10, 5000, 1_200_000, 3_000_000];

/** The body that belongs to a path. */
export function bodyOf(path: string): Buffer {
  const digest = createHash("sha256").update(path).digest();
  return Buffer.alloc(SIZES[digest[0]! % SIZES.length]!, digest);
}

if (import.meta.main) {
  const folder = process.argv[2]!;
  const limitOctets = 64 * 1024 ** 2;
  const onError = (error: Error) => {
    throw error;
  };
  const disk = await DiskStore.open(folder, new DiskLedger({ folder, limitOctets, onError }));
  const world = new World({}, { disk });
  for (let i = 0; ; i++) {
    const path = `/${i % 40}`;
    world.script = () => ({ headers: { "Cache-Control": "max-age=600" }, body: bodyOf(path) });
    await octetsOf((await world.open(path)).body);
    if (i % 40 === 39)
      world.cache.forget(Array.from({ length: 40 }, (_, n) => `z https://www.example.com/${n}`));
    process.stdout.write("filled\n");
  }
}
