/** A zone in the API's spelling. */
import { z } from "zod";
import type { Account } from "#accounts";
import { developmentModeEnds, type Zone } from "#zones";
import type { ApiParts } from "../endpoint.ts";
import { showTime } from "../shapes.ts";

const hostName = z
  .string()
  .regex(/^(?!.{254})(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}\.?$/i, "is not a host name");

const types = z.enum(["full", "partial", "secondary", "internal"]);

export const newZoneInput = z
  .object({
    name: z.string().min(1).max(253),
    account: z.object({ id: z.string().optional() }).nullish(),
    // The older name of the same, which cloudflare-go v0 sends.
    organization: z.object({ id: z.string().optional() }).nullish(),
    type: types.default("full"),
  })
  .transform(({ name, account, organization, type }) => ({
    name,
    type,
    accountId: account?.id ?? organization?.id ?? null,
  }));

export const zoneInput = z
  .object({
    paused: z.boolean().optional(),
    type: types.optional(),
    vanity_name_servers: z.array(hostName).max(10).nullish(),
  })
  .transform(({ paused, type, vanity_name_servers }) => ({
    ...(paused !== undefined && { paused }),
    ...(type !== undefined && { type }),
    ...(vanity_name_servers !== undefined && { vanityNameServers: vanity_name_servers ?? [] }),
  }));

/** Clients decode price and quotas into integers. */
const PLAN = {
  id: "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  name: "Selvedge",
  price: 0,
  currency: "USD",
  frequency: "",
  is_subscribed: true,
  can_subscribe: false,
  legacy_id: "free",
  legacy_discount: false,
  externally_managed: false,
};

export const plans = [PLAN];

/** `id` stands first: a shell client takes it from there. */
export function showZone(
  zone: Zone,
  account: Account,
  { nameservers, certificates, now }: Pick<ApiParts, "nameservers" | "certificates" | "now">,
): object {
  return {
    id: zone.id,
    name: zone.name,
    status: zone.status,
    paused: zone.paused,
    type: zone.type,
    development_mode: developmentSeconds(zone, now()),
    name_servers: nameservers,
    original_name_servers: null,
    original_registrar: null,
    original_dnshost: null,
    modified_on: showTime(zone.modifiedAt),
    created_on: showTime(zone.createdAt),
    activated_on: zone.activatedAt === null ? null : showTime(zone.activatedAt),
    ...(zone.vanityNameServers.length > 0 && { vanity_name_servers: zone.vanityNameServers }),
    meta: {
      step: 2,
      custom_certificate_quota: certificates.custom.quota,
      page_rule_quota: 0,
      phishing_detected: false,
      multiple_railguns_allowed: false,
      wildcard_proxiable: true,
    },
    owner: { id: null, type: "user", email: null },
    account: { id: account.id, name: account.name },
    tenant: { id: null, name: null },
    tenant_unit: { id: null },
    permissions: ["#dns_records:edit", "#dns_records:read", "#zone:edit", "#zone:read"],
    plan: PLAN,
  };
}

/** Until development mode ends, below nought since it has ended. */
function developmentSeconds({ settings }: Zone, now: number): number {
  const ends = developmentModeEnds(settings);
  return ends === 0 ? 0 : Math.ceil((ends - now) / 1000);
}
