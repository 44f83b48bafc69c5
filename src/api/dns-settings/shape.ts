/** A zone's DNS settings in the API's spelling. */
import { z } from "zod";
import { parseHost, withoutDot } from "#dns";
import type { DnsSettings } from "#zones";

const whole = (least: number, most: number) => z.number().int().min(least).max(most).optional();
/** A name as the SOA has it, without its last dot. */
const host = z
  .string()
  .max(253)
  .transform((text, context) => {
    try {
      return withoutDot(parseHost(text));
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
      return z.NEVER;
    }
  })
  .nullable()
  .optional();

export const dnsSettingsInput = z.object({
  flatten_all_cnames: z.boolean().optional(),
  foundation_dns: z.boolean().optional(),
  multi_provider: z.boolean().optional(),
  secondary_overrides: z.boolean().optional(),
  ns_ttl: whole(30, 86_400),
  zone_mode: z.enum(["standard", "cdn_only", "dns_only"]).optional(),
  nameservers: z
    .object({
      type: z.enum([
        "cloudflare.standard",
        "cloudflare.advanced",
        "custom.account",
        "custom.tenant",
        "custom.zone",
      ]),
      ns_set: whole(1, 5),
    })
    .optional(),
  soa: z
    .object({
      mname: host,
      rname: host,
      refresh: whole(600, 86_400),
      retry: whole(600, 86_400),
      expire: whole(86_400, 2_419_200),
      min_ttl: whole(60, 86_400),
      ttl: whole(300, 86_400),
    })
    .optional(),
});

/** The settings with what the body gives changed. */
export function mergeDnsSettings(
  now: DnsSettings,
  body: z.output<typeof dnsSettingsInput>,
): DnsSettings {
  const { soa, nameservers } = body;
  return {
    ...now,
    flattenAllCnames: body.flatten_all_cnames ?? now.flattenAllCnames,
    foundationDns: body.foundation_dns ?? now.foundationDns,
    multiProvider: body.multi_provider ?? now.multiProvider,
    secondaryOverrides: body.secondary_overrides ?? now.secondaryOverrides,
    nsTtl: body.ns_ttl ?? now.nsTtl,
    zoneMode: body.zone_mode ?? now.zoneMode,
    nameservers:
      nameservers === undefined
        ? now.nameservers
        : {
            type: nameservers.type,
            ...(nameservers.ns_set !== undefined && { nsSet: nameservers.ns_set }),
          },
    soa: {
      mname: soa?.mname === undefined ? now.soa.mname : soa.mname,
      rname: soa?.rname === undefined ? now.soa.rname : soa.rname,
      refresh: soa?.refresh ?? now.soa.refresh,
      retry: soa?.retry ?? now.soa.retry,
      expire: soa?.expire ?? now.soa.expire,
      minTtl: soa?.min_ttl ?? now.soa.minTtl,
      ttl: soa?.ttl ?? now.soa.ttl,
    },
  };
}

export function showDnsSettings(settings: DnsSettings): object {
  const { nameservers, soa } = settings;
  return {
    flatten_all_cnames: settings.flattenAllCnames,
    foundation_dns: settings.foundationDns,
    multi_provider: settings.multiProvider,
    secondary_overrides: settings.secondaryOverrides,
    ns_ttl: settings.nsTtl,
    zone_mode: settings.zoneMode,
    nameservers: {
      type: nameservers.type,
      ...(nameservers.nsSet !== undefined && { ns_set: nameservers.nsSet }),
    },
    soa: {
      mname: soa.mname,
      rname: soa.rname,
      refresh: soa.refresh,
      retry: soa.retry,
      expire: soa.expire,
      min_ttl: soa.minTtl,
      ttl: soa.ttl,
    },
    internal_dns:
      settings.referenceZoneId === null ? {} : { reference_zone_id: settings.referenceZoneId },
  };
}
