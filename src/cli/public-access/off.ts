/** Lets nobody read a bucket over S3 without a key. */
import { bucketDomains, domainUrl } from "../bucket-domains/bucket-domain.ts";
import { arg, command } from "../command.ts";
import { setPublicAccess } from "./public-access.ts";

export const publicOff = command({
  path: "bucket public off",
  summary: "let nobody read a bucket over S3 without an access key",
  args: { bucket: arg("the bucket's name") },
  examples: [["selvedge bucket public off photos", "hostnames stay: see bucket domain remove"]],
  json: "what the API has",
  async run({ args: { bucket } }, context) {
    const { out } = context;
    const access = await setPublicAccess(context, bucket, { enabled: false });
    out.result(access, `Nobody can read ${bucket} over S3 without an access key now.`);
    const domains = (await bucketDomains(context, bucket)).filter(({ enabled }) => enabled);
    if (domains.length === 0) return;
    const places = domains.map(domainUrl).join(", ");
    out.warn(
      `Anyone can still read it at ${places}. "selvedge bucket domain remove" takes a hostname away.`,
    );
  },
});
