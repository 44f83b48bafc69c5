/** How a zone is served: its SOA, its name servers, flattening. */

export interface DnsSettings {
  readonly flattenAllCnames: boolean;
  readonly foundationDns: boolean;
  readonly multiProvider: boolean;
  readonly secondaryOverrides: boolean;
  readonly nsTtl: number;
  readonly zoneMode: "standard" | "cdn_only" | "dns_only";
  readonly nameservers: { readonly type: string; readonly nsSet?: number };
  readonly soa: SoaSettings;
  readonly referenceZoneId: string | null;
}

export interface SoaSettings {
  /** Null is the zone's first name server. */
  readonly mname: string | null;
  readonly rname: string | null;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minTtl: number;
  readonly ttl: number;
}

export const defaultDnsSettings: DnsSettings = {
  flattenAllCnames: false,
  foundationDns: false,
  multiProvider: false,
  secondaryOverrides: false,
  nsTtl: 86_400,
  zoneMode: "standard",
  nameservers: { type: "cloudflare.standard" },
  soa: {
    mname: null,
    rname: null,
    refresh: 10_000,
    retry: 2_400,
    expire: 604_800,
    minTtl: 1_800,
    ttl: 3_600,
  },
  referenceZoneId: null,
};
