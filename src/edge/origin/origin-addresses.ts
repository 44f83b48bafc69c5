/** Where the origin of a proxied name is: its records' addresses, CNAMEs followed inside our zones and out. */
import type { ZoneRecord } from "#zones";
import type { KnownName } from "../proxied-names.ts";

export interface OriginAddressesOptions {
  /** Records of a name that lies in a zone here; null when it lies in none. */
  readonly inZones: (name: string) => Promise<readonly ZoneRecord[] | null>;
  readonly outside: (name: string) => Promise<readonly string[]> | readonly string[];
}

/** As the nameserver follows them: longer chains are loops, or mistakes. */
const MAX_CHAIN = 8;

/** Empty when the chain ends nowhere. */
export async function originAddresses(
  { proxied }: KnownName,
  { inZones, outside }: OriginAddressesOptions,
): Promise<readonly string[]> {
  let records: readonly ZoneRecord[] = proxied;
  for (let step = 0; step < MAX_CHAIN; step++) {
    const addresses = records.filter(({ type }) => type === "A" || type === "AAAA");
    if (addresses.length > 0) return addresses.map(({ content }) => content);
    const target = records.find(({ type }) => type === "CNAME")?.content.toLowerCase();
    if (target === undefined) return [];
    const here = await inZones(target);
    if (here === null) return outside(target);
    records = here;
  }
  return [];
}
