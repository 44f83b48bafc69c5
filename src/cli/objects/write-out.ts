/** Writes an object to standard output; when the connection breaks, it goes on from there. */
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { Address } from "./address.ts";
import { persistently } from "./parts.ts";
import { noSuchObject } from "./show.ts";

export async function writeOut(address: Address, context: CommandContext): Promise<void> {
  const { out, signal } = context;
  const bucket = context.bucket(address.bucket);
  const object = await bucket.head(address.key);
  if (object === null) throw noSuchObject(address);
  const onlyIf = { etagMatches: object.etag };
  let written = 0;
  using progress = out.progress(address.key, object.size);
  await persistently(signal, async () => {
    if (written === object.size) return;
    const found = await bucket.get(address.key, { range: { offset: written }, onlyIf });
    if (found === null || !("body" in found)) {
      throw new CliFault("failed", `${address.key} changed while it was fetched. Try again.`);
    }
    for await (const chunk of found.body) {
      signal.throwIfAborted();
      await out.bytes(chunk);
      written += chunk.length;
      progress.add(chunk.length);
    }
  });
  if (written !== object.size) throw new CliFault("failed", `${address.key} came cut short.`);
}
