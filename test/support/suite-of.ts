/** Runs the tests of another file, once more, as a suite. */
import { suite } from "node:test";

/**
 * Waits until the file is loaded and its server has started: several that start at once take a slow machine
 * longer than anyone waits.
 */
export async function suiteOf(name: string, load: () => Promise<unknown>): Promise<void> {
  const loaded = Promise.withResolvers<void>();
  suite(name, async () => {
    await load().finally(loaded.resolve);
  });
  await loaded.promise;
}
