/** Shows what is known of an object. */
import type { StoreObject } from "#binding";
import { arg, command } from "../command.ts";
import { showSize, showTime } from "../units.ts";
import { readObjectAddress } from "./address.ts";
import { noSuchObject, objectJson } from "./show.ts";

export const headObject = command({
  path: "object head",
  summary: "show what is known of an object",
  args: { object: arg("BUCKET/KEY") },
  examples: [["selvedge object head photos/2026/tulip.jpg", "size, etag, metadata"]],
  json: "the object's metadata",
  async run({ args }, context) {
    const address = readObjectAddress(args.object);
    const object = await context.bucket(address.bucket).head(address.key);
    if (object === null) throw noSuchObject(address);
    const { out } = context;
    out.result(objectJson(address.bucket, object), () => out.fields(fieldsOf(object)));
  },
});

function fieldsOf(object: StoreObject): [string, string][] {
  const { key, size, etag, version, uploaded, storageClass } = object;
  const { cacheExpiry, ...http } = object.httpMetadata ?? {};
  return [
    ["Key", key],
    ["Size", size < 1_024 ? showSize(size) : `${showSize(size)} (${size})`],
    ["Etag", etag],
    ["Version", version],
    ["Uploaded", showTime(uploaded)],
    ["Storage class", storageClass],
    ...Object.entries(http).map(([name, value]): [string, string] => [spaced(name), value]),
    ...(cacheExpiry === undefined
      ? []
      : [["Cache expiry", showTime(cacheExpiry)] as [string, string]]),
    ...Object.entries(object.customMetadata ?? {}),
  ];
}

/** `contentType` → `Content type`. */
function spaced(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
