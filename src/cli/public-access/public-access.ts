/** Whether anyone may read a bucket over S3, as the API shows it, and where. */
import { askBucket } from "../buckets/ask.ts";
import type { CommandContext } from "../context.ts";

export interface PublicAccess {
  /** The host of S3 and the bucket: `127.0.0.1:9000/photos`. */
  readonly domain: string;
  readonly enabled: boolean;
  readonly listing: boolean;
}

const PLACE = "domains/managed";

export function publicAccess(context: CommandContext, bucket: string): Promise<PublicAccess> {
  return askBucket<PublicAccess>(context, bucket, { place: PLACE });
}

export function setPublicAccess(
  context: CommandContext,
  bucket: string,
  body: { readonly enabled: boolean; readonly listing?: boolean },
): Promise<PublicAccess> {
  return askBucket<PublicAccess>(context, bucket, { method: "PUT", place: PLACE, body });
}

/** Listeners on every address of the server. */
const ANYWHERE = new Set(["0.0.0.0", "[::]"]);

/** Where its objects are; null where the server's S3 is off. */
export function publicUrl({ serverUrl }: CommandContext, { domain }: PublicAccess): string | null {
  if (domain.startsWith("/")) return null;
  const url = new URL(`http://${domain}`);
  // Nobody can open that; whoever reaches the API there reaches S3 there, too.
  if (ANYWHERE.has(url.hostname)) url.hostname = new URL(serverUrl).hostname;
  return url.href;
}

export const S3_IS_OFF = "the server's S3 is off";
