/** Takes a hostname from a bucket. */
import { askBucket } from "../buckets/ask.ts";
import { arg, command, yes } from "../command.ts";
import { DOMAINS, readHostname } from "./bucket-domain.ts";

export const removeDomain = command({
  path: "bucket domain remove",
  summary: "take a hostname from a bucket, with the DNS record made for it",
  args: { bucket: arg("the bucket's name"), hostname: arg("one that the bucket has") },
  options: { yes },
  examples: [
    ["selvedge bucket domain remove photos files.example.com", "asks first; --yes does not"],
  ],
  json: "the removed domain: its hostname",
  async run({ args, options }, context) {
    const { bucket } = args;
    const domain = readHostname(args.hostname);
    if (!options.yes) {
      await context.confirm(`Take ${domain} from the bucket ${bucket}?`, "Nothing was removed.");
    }
    const place = `${DOMAINS}/${encodeURIComponent(domain)}`;
    await askBucket(context, bucket, { method: "DELETE", place });
    context.out.result({ domain }, `Took ${domain} from the bucket ${bucket}.`);
  },
});
