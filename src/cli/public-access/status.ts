/** Shows who can read a bucket without an access key. */
import { bucketDomains, domainUrl } from "../bucket-domains/bucket-domain.ts";
import { arg, command } from "../command.ts";
import { publicAccess, publicUrl, S3_IS_OFF } from "./public-access.ts";

export const publicStatus = command({
  path: "bucket public status",
  summary: "show whether anyone can read a bucket, and where",
  args: { bucket: arg("the bucket's name") },
  examples: [["selvedge bucket public status photos", "over S3, and under hostnames"]],
  json: "what the API has, with the url (null where it is not public) and the domains",
  async run({ args: { bucket } }, context) {
    const { out } = context;
    const access = await publicAccess(context, bucket);
    const domains = (await bucketDomains(context, bucket)).filter(({ enabled }) => enabled);
    const url = access.enabled ? publicUrl(context, access) : null;
    const anyone = access.listing ? "anyone can read and list" : "anyone can read, but not list";
    out.result({ ...access, url, domains }, () =>
      out.fields([
        ["Over S3", access.enabled ? anyone : "nobody without an access key"],
        ...(access.enabled
          ? [["Address", url === null ? `none: ${S3_IS_OFF}` : `${url}/KEY`] as const]
          : []),
        ["Hostnames", domains.length === 0 ? "none" : "anyone can read, but not list"],
        ...domains.map((domain) => ["Address", `${domainUrl(domain)}/KEY`] as const),
      ]),
    );
  },
});
