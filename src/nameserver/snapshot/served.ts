/** From what a zone holds to what is served of it: TTLs, wire data, the sets that the platform makes. */
import { recordType } from "#dns";
import { dataOf, typeOf, type Zone, type ZoneRecord, zoneSettingOf } from "#zones";
import { TYPE } from "../codes.ts";
import { NAME, ZONE } from "./layout.ts";
import { QUICK, quickRdata } from "./quick-rdata.ts";
import type { SetRecord } from "./rrset.ts";

/** What the compiler reads of a record. */
export type ServedRecord = Pick<
  ZoneRecord,
  "type" | "content" | "priority" | "ttl" | "proxied" | "extra"
>;

/** What the platform is, as zones show it. */
export interface PlatformFacts {
  readonly nameservers: readonly string[];
  /** What proxied names answer. */
  readonly edgeAddresses: readonly string[];
  /** What the edge speaks beside HTTP/1.1, best first, as ALPN names. */
  readonly edgeProtocols: readonly string[];
}

/** `1` in the API is automatic. */
const AUTOMATIC = 1;
const AUTOMATIC_TTL_SECONDS = 300;

export function served(record: ServedRecord): SetRecord {
  const ttl = record.ttl === AUTOMATIC ? AUTOMATIC_TTL_SECONDS : record.ttl;
  const rdata = quickRdata(record);
  if (rdata !== null) return { type: QUICK[record.type]!, ttl, rdata };
  const type = typeOf(record as ZoneRecord);
  return { type: type.code, ttl, rdata: type.encode(dataOf(record as ZoneRecord)) };
}

/** The flags of a name with these records. */
export function nameFlags(records: readonly ServedRecord[], isApex: boolean): number {
  let flags = 0;
  for (const { type, proxied, extra } of records) {
    if (type === "NS" && !isApex) flags |= NAME.cut;
    if (type === "CNAME") flags |= NAME.hasCname | (isApex ? NAME.flattened : 0);
    if (proxied) flags |= NAME.proxied;
    const settings = extra?.settings;
    if (settings === undefined) continue;
    if (settings["flatten_cname"] === true) flags |= NAME.flattened;
    if (settings["ipv4_only"] === true) flags |= NAME.ipv4Only;
    if (settings["ipv6_only"] === true) flags |= NAME.ipv6Only;
  }
  // Beside other data a CNAME cannot be shown, whether the edge stands before it or not.
  if ((flags & NAME.hasCname) !== 0 && records.length > 1) flags |= NAME.flattened;
  return flags;
}

export function zoneFlags(zone: Zone): number {
  const proxies = !zone.paused && zone.dnsSettings.zoneMode !== "dns_only";
  return (
    (proxies ? ZONE.proxies : 0) |
    (zoneSettingOf(zone.settings, "ipv6") === "on" ? ZONE.ipv6 : 0) |
    (zone.dnsSettings.flattenAllCnames ? ZONE.flattensAll : 0)
  );
}

/** The sets that the platform makes for zones. What many changes and zones share is made once. */
export class PlatformSets {
  readonly #facts: PlatformFacts;
  readonly #edge = new Map<string, EdgeSets>();
  readonly #ns = new Map<string, Uint8Array>();

  constructor(facts: PlatformFacts) {
    this.#facts = facts;
  }

  soa(zone: Zone): SetRecord {
    const { soa } = zone.dnsSettings;
    const type = recordType("SOA")!;
    const data = {
      mname: absolute(soa.mname ?? this.#serversOf(zone)[0] ?? zone.name),
      rname: absolute(soa.rname ?? `dns.${zone.name}`),
      serial: zone.serial,
      refresh: soa.refresh,
      retry: soa.retry,
      expire: soa.expire,
      minimum: soa.minTtl,
    };
    return { type: type.code, ttl: soa.ttl, rdata: type.encode(data) };
  }

  /**
   * The name servers at the apex: the platform's, or the zone's vanity names for them. Those among the
   * zone's records only count when the zone says that it has several providers.
   */
  apexNs(zone: Zone, own: readonly ServedRecord[]): SetRecord[] {
    const { nsTtl, multiProvider } = zone.dnsSettings;
    const foreign = multiProvider ? own.map(({ content }) => content) : [];
    return [...this.#serversOf(zone), ...foreign].map((name) => ({
      type: TYPE.NS,
      ttl: nsTtl,
      rdata: memoized(this.#ns, name, () => encoded("NS", { content: name })),
    }));
  }

  /** What a proxied name answers for A, AAAA and HTTPS. */
  edge(zone: Zone): EdgeSets {
    const isOn = (setting: "ipv6" | "http2" | "http3") =>
      zoneSettingOf(zone.settings, setting) === "on";
    const [ipv6, http2, http3] = [isOn("ipv6"), isOn("http2"), isOn("http3")];
    return memoized(this.#edge, `${ipv6} ${http2} ${http3}`, () => {
      const { edgeAddresses, edgeProtocols } = this.#facts;
      const v4 = edgeAddresses.filter((address) => !address.includes(":"));
      const v6 = ipv6 ? edgeAddresses.filter((address) => address.includes(":")) : [];
      const alpn = edgeProtocols.filter((protocol) => (protocol === "h3" ? http3 : http2));
      return edgeSets(v4, v6, alpn);
    });
  }

  #serversOf(zone: Zone): readonly string[] {
    return zone.vanityNameServers.length > 0 ? zone.vanityNameServers : this.#facts.nameservers;
  }
}

interface EdgeSets {
  readonly a: readonly SetRecord[];
  readonly aaaa: readonly SetRecord[];
  readonly https: readonly SetRecord[];
  /** With the addresses of one kind only. */
  readonly https4: readonly SetRecord[];
  readonly https6: readonly SetRecord[];
}

function edgeSets(v4: readonly string[], v6: readonly string[], alpn: readonly string[]): EdgeSets {
  const record = (type: number, rdata: Uint8Array): SetRecord => ({
    type,
    ttl: AUTOMATIC_TTL_SECONDS,
    rdata,
  });
  const type = recordType("HTTPS")!;
  const https = (hints4: readonly string[], hints6: readonly string[]) => {
    if (alpn.length === 0) return [];
    const params = [
      `alpn="${alpn.join(",")}"`,
      ...(hints4.length > 0 ? [`ipv4hint=${hints4.join(",")}`] : []),
      ...(hints6.length > 0 ? [`ipv6hint=${hints6.join(",")}`] : []),
    ];
    return [record(TYPE.HTTPS, type.encode(type.parse(`1 . ${params.join(" ")}`)))];
  };
  return {
    a: v4.map((content) => record(TYPE.A, encoded("A", { content }))),
    aaaa: v6.map((content) => record(TYPE.AAAA, encoded("AAAA", { content }))),
    https: https(v4, v6),
    https4: https(v4, []),
    https6: https([], v6),
  };
}

function encoded(name: string, input: { readonly content: string }): Uint8Array {
  const type = recordType(name)!;
  return type.encode(type.api.accept(input));
}

function memoized<T>(known: Map<string, T>, key: string, make: () => T): T {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make()));
  return value;
}

function absolute(name: string): string {
  return name.endsWith(".") ? name : `${name}.`;
}
