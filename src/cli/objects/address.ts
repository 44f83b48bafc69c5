/** `BUCKET/KEY` on the command line. */
import { wrongUsage } from "../fault.ts";

export interface Address {
  readonly bucket: string;
  /** May be empty, where a prefix is meant. */
  readonly key: string;
}

/** The first slash parts them; those after it belong to the key. */
export function readAddress(given: string): Address {
  const slash = given.indexOf("/");
  const [bucket, key] =
    slash === -1 ? [given, ""] : [given.slice(0, slash), given.slice(slash + 1)];
  if (bucket !== "") return { bucket, key };
  throw wrongUsage(`"${given}" names no bucket. Write BUCKET/KEY.`);
}

/** One that names an object. */
export function readObjectAddress(given: string): Address {
  const address = readAddress(given);
  if (address.key !== "") return address;
  throw wrongUsage(`"${given}" names no object. Write BUCKET/KEY.`);
}
