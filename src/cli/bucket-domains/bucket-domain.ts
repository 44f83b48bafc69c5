/** A hostname under which anyone may read a bucket, as the API shows it. */
import { askBucket } from "../buckets/ask.ts";
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import type { Column } from "../table.ts";
import { asKept } from "../zones/zone.ts";

export interface BucketDomain {
  readonly domain: string;
  readonly enabled: boolean;
  readonly zoneId: string;
  readonly zoneName: string;
}

export const DOMAINS = "domains/custom";

export async function bucketDomains(
  context: CommandContext,
  bucket: string,
): Promise<readonly BucketDomain[]> {
  const place = DOMAINS;
  return (await askBucket<{ domains: BucketDomain[] }>(context, bucket, { place })).domains;
}

export function domainUrl({ domain }: BucketDomain): string {
  return `https://${domain}`;
}

/** An address or a wildcard is none. */
export function readHostname(given: string): string {
  const hostname = asKept(given);
  if (/^[^\s/:*?#@%\\]+$/.test(hostname)) return hostname;
  throw wrongUsage(`"${given}" is no hostname. Write one such as files.example.com.`);
}

export const domainColumns: readonly Column<BucketDomain>[] = [
  { title: "HOSTNAME", show: ({ domain }) => domain, style: "cyan", flexible: true },
  { title: "STATE", show: ({ enabled }) => (enabled ? "on" : "off") },
  { title: "ZONE", show: ({ zoneName }) => zoneName, flexible: true },
  { title: "ADDRESS", show: domainUrl, flexible: true },
];
