/** The tags of a bucket: names and values for who keeps the accounts. */
import { checkTags } from "../tags.ts";

/** That of S3; an object has fewer. */
const MAX_BUCKET_TAGS = 50;

export function checkBucketTags(tags: Readonly<Record<string, string>>): void {
  checkTags(tags, MAX_BUCKET_TAGS);
}
