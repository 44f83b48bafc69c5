/** Lets anyone read a bucket under a hostname. */
import { askBucket, isRefusal } from "../buckets/ask.ts";
import { arg, command, yes } from "../command.ts";
import { CliFault } from "../fault.ts";
import { type DnsRecord, recordLine } from "../records/record.ts";
import { orUnseen } from "../scripts/route-places.ts";
import { usualZone } from "../zones/zone.ts";
import { type BucketDomain, DOMAINS, domainUrl, readHostname } from "./bucket-domain.ts";

export const addDomain = command({
  path: "bucket domain add",
  summary: "let anyone read a bucket under a hostname",
  description:
    "Lets anyone read the objects of a bucket under a hostname, which must lie in a zone of the account. Requests come by a proxied DNS record: one is made where the name has none, and one that is there must be proxied. Scripts with routes there go first; objects are never listed.",
  args: { bucket: arg("the bucket's name"), hostname: arg("a name in one of your zones") },
  options: { yes },
  examples: [
    [
      "selvedge bucket domain add photos files.example.com",
      "asks first, as anyone can read then; --yes does not",
    ],
  ],
  json: "the domain, with its url and the DNS records of its name",
  async run({ args, options }, context) {
    const { bucket } = args;
    const hostname = readHostname(args.hostname);
    if (!options.yes) {
      const question = `Let anyone read the objects of ${bucket} at https://${hostname}?`;
      await context.confirm(question, "Nothing was added.");
    }
    const request = { method: "POST", place: DOMAINS, body: { domain: hostname } } as const;
    await askBucket(context, bucket, request).catch((error: unknown) => refused(error, hostname));
    const place = `${DOMAINS}/${encodeURIComponent(hostname)}`;
    const domain = await askBucket<BucketDomain>(context, bucket, { place });
    const query = { name: hostname, proxied: true };
    const asked = context.api.get<DnsRecord[]>(`/zones/${domain.zoneId}/dns_records`, query);
    const records = (await orUnseen(asked)) ?? [];
    const url = domainUrl(domain);
    const { out } = context;
    out.result({ ...domain, url, records }, () =>
      out.fields([
        ["Hostname", domain.domain],
        ["Zone", domain.zoneName],
        ...records.map((record) => ["Record", recordLine(record)] as const),
        ["Address", `${url}/KEY`],
      ]),
    );
    if (!out.json) out.note(`Anyone can read the objects of ${bucket} there now.`);
  },
});

const NO_ZONE = 7003;
const RECORD_IN_THE_WAY = 100_117;

function refused(error: unknown, hostname: string): never {
  if (isRefusal(error, NO_ZONE)) {
    const advice = `Make one with "selvedge zone create ${usualZone(hostname)}".`;
    const message = `There is no zone for ${hostname} in this account. ${advice}`;
    throw new CliFault("not-found", message, { cause: error });
  }
  if (isRefusal(error, RECORD_IN_THE_WAY)) {
    const proxy = `have it proxied with "selvedge record edit ZONE ${hostname} --proxied"`;
    const message = `${hostname} has a DNS record that leads elsewhere. Remove it, or ${proxy}.`;
    throw new CliFault("failed", message, { cause: error });
  }
  throw error;
}
