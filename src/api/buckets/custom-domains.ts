/** Hostnames of zones under which anyone may read a bucket. */
import { domainToASCII } from "node:url";
import { z } from "zod";
import { type BucketDomain, ObjectFault } from "#objects";
import { type Zone, zoneSettingOf } from "#zones";
import { endpoint } from "../endpoint.ts";
import { removeDomainRecords, setDomainRecord } from "../script-domains/dns.ts";
import { zoneFinder } from "../script-routes/zone-of.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

const places = paths.map((path) => `${path}/:bucket_name/domains/custom` as const);

/** By which its record is known again when a domain goes. */
const COMMENT = "Made for a bucket's domain";

/** Nothing older than TLS 1.2 is spoken anyway; more is a matter of the zone, and is not promised here. */
const tls = {
  minTLS: z
    .enum(
      ["1.0", "1.1", "1.2"],
      'must be "1.0", "1.1" or "1.2"; for more, set the zone\'s min_tls_version',
    )
    .nullish(),
  ciphers: z.array(z.string()).max(0, "cannot be chosen").nullish(),
};

export const listBucketDomains = places.map((path) =>
  endpoint({
    method: "GET",
    path,
    summary: "List the domains of a bucket",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects, bucketDomains, zones }) => {
      checkJurisdiction(headers);
      const domains = await bucketDomains.list(await bucketOf(objects, params));
      const all = await zones.list([params.account_id]);
      return { domains: domains.map((domain) => showDomain(domain, all)) };
    },
  }),
);

export const getBucketDomain = places.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:domain`,
    summary: "Show a domain of a bucket",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects, bucketDomains, zones }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      const domain = await bucketDomains.get(bucket, params.domain.toLowerCase());
      return showDomain(domain, await zones.list([params.account_id]));
    },
  }),
);

export const attachBucketDomain = places.map((path) =>
  endpoint({
    method: "POST",
    path,
    summary: "Let anyone read a bucket under a hostname",
    permission: "buckets.edit",
    plainText: true,
    body: z.object({
      domain: z.string(),
      zoneId: z.string().nullish(),
      enabled: z.boolean().default(true),
      ...tls,
    }),
    handle: async ({ params, body, headers, identity }, parts) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(parts.objects, params);
      const find = await zoneFinder(params.account_id, identity, parts, "dns.edit");
      const hostname = hostnameOf(body.domain);
      const zone = await find(hostname, { zone_id: body.zoneId });
      checkWithin(hostname, zone);
      const options = { overrides: false, comment: COMMENT };
      const setRecord = (dryRun: boolean) =>
        setDomainRecord(parts, zone, hostname, identity, { ...options, dryRun });
      await setRecord(true);
      const { enabled } = body;
      await parts.bucketDomains.attach(bucket, { hostname, zoneId: zone.id, enabled });
      await setRecord(false);
      return { domain: hostname, enabled, zoneId: zone.id };
    },
  }),
);

export const editBucketDomain = places.map((path) =>
  endpoint({
    method: "PUT",
    path: `${path}/:domain`,
    summary: "Switch a domain of a bucket on or off",
    permission: "buckets.edit",
    plainText: true,
    body: z.object({ enabled: z.boolean().optional(), ...tls }),
    handle: async ({ params, body, headers }, { objects, bucketDomains }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      const { hostname, enabled } = await bucketDomains.get(bucket, params.domain.toLowerCase());
      if (body.enabled !== undefined && body.enabled !== enabled) {
        await bucketDomains.setEnabled(bucket, hostname, body.enabled);
      }
      return { domain: hostname, enabled: body.enabled ?? enabled };
    },
  }),
);

export const removeBucketDomain = places.map((path) =>
  endpoint({
    method: "DELETE",
    path: `${path}/:domain`,
    summary: "Take a hostname from a bucket",
    permission: "buckets.edit",
    handle: async ({ params, headers, identity }, parts) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(parts.objects, params);
      const domain = await parts.bucketDomains.get(bucket, params.domain.toLowerCase());
      const { hostname } = domain;
      await parts.bucketDomains.remove(bucket, hostname);
      // A script may have come to the same hostname, and needs its record now.
      const scripts = await parts.routes.domains(params.account_id, { hostname });
      if (scripts.length === 0) await removeDomainRecords(parts, [domain], identity, COMMENT);
      return { domain: hostname };
    },
  }),
);

/**
 * What `domainToASCII` would take for a part of an address, and read past or undo. A wildcard would lead names here at
 * which no bucket answers, for domains are told apart by their whole names.
 */
const NOT_IN_HOSTNAMES = /[\s/:*?#@%\\]/;

function hostnameOf(domain: string): string {
  const hostname = NOT_IN_HOSTNAMES.test(domain) ? "" : domainToASCII(domain);
  if (hostname !== "") return hostname;
  throw new ObjectFault("bad-domain", `domain: ${shown(domain)} is no hostname`);
}

function checkWithin(hostname: string, { name }: Zone): void {
  if (hostname === name || hostname.endsWith(`.${name}`)) return;
  const message = `domain: ${shown(hostname)} is no name in the zone ${name}`;
  throw new ObjectFault("bad-domain", message);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}

/** A zone that is served here is its owner's; its certificate comes with the first request. */
function showDomain({ hostname, zoneId, enabled }: BucketDomain, zones: readonly Zone[]): object {
  const zone = zones.find(({ id }) => id === zoneId);
  return {
    domain: hostname,
    enabled,
    status: { ownership: enabled ? "active" : "deactivated", ssl: "active" },
    minTLS: zone && zoneSettingOf(zone.settings, "min_tls_version") === "1.3" ? "1.3" : "1.2",
    zoneId,
    zoneName: zone?.name ?? "",
  };
}
