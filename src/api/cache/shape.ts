/** What a purge may name: all of it in the zone, and told apart in the form that the cache knows. */
import { z } from "zod";
import { invalidFields } from "../errors.ts";

/** A purge as the cache takes it. URLs are without their scheme: both are meant. */
export interface ZonePurge {
  readonly zoneId: string;
  readonly kind: "everything" | "host" | "url" | "prefix";
  readonly value: string;
}

/** As many as the original takes of those who pay most. */
const MAX_ITEMS = 500;
/** Longer URLs do not get through the edge. */
const MAX_LENGTH = 16_384;

const items = <S extends z.ZodType>(item: S) => z.array(item).min(1).max(MAX_ITEMS).optional();
const text = z.string().min(1).max(MAX_LENGTH);

export const purgeInput = z
  .object({
    /** With headers one variant is meant; here all variants of the URL go. */
    files: items(z.union([text, z.object({ url: text }).transform(({ url }) => url)])),
    hosts: items(text),
    prefixes: items(text),
    tags: z
      .never({ error: "responses have no tags here. Purge by files, hosts or prefixes." })
      .optional(),
    purge_everything: z.literal(true).optional(),
  })
  .refine(
    (body) => Object.values(body).filter((value) => value !== undefined).length === 1,
    "must have one of files, hosts, prefixes and purge_everything.",
  );

/** `dropsQuery` where the zone has URLs that differ only in their query under one key. */
export function purgesOf(
  zone: { readonly id: string; readonly name: string },
  { files = [], hosts = [], prefixes = [], purge_everything }: z.output<typeof purgeInput>,
  dropsQuery: boolean,
): ZonePurge[] {
  const zoneId = zone.id;
  if (purge_everything === true) return [{ zoneId, kind: "everything", value: "" }];
  const read = (field: string, list: readonly string[], parse: (item: string) => string | Fault) =>
    list.map((item, i) => {
      const found = parse(item);
      const why = typeof found === "string" ? outside(found, zone.name) : found.why;
      if (why === null) return found as string;
      throw invalidFields([{ pointer: `/${field}/${i}`, message: `${field}.${i} ${why}` }]);
    });
  return [
    ...read("files", files, (file) => addressOf(file, dropsQuery)).map(
      (value) => ({ zoneId, kind: "url", value }) as const,
    ),
    ...read("hosts", hosts, hostOf).map((value) => ({ zoneId, kind: "host", value }) as const),
    ...read("prefixes", prefixes, prefixOf).map(
      (value) => ({ zoneId, kind: "prefix", value }) as const,
    ),
  ];
}

interface Fault {
  readonly why: string;
}

function addressOf(file: string, dropsQuery: boolean): string | Fault {
  const url = URL.parse(file);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { why: "must be a URL such as https://www.example.com/style.css" };
  }
  return `${url.hostname}${url.pathname}${dropsQuery ? "" : url.search}`;
}

function hostOf(host: string): string | Fault {
  const url = /[/:?#@\s]/.test(host) ? null : URL.parse(`http://${host}`);
  return url?.hostname ?? { why: "must be a hostname such as www.example.com" };
}

function prefixOf(prefix: string): string | Fault {
  const url = /[?#@\s]|:\/\//.test(prefix) ? null : URL.parse(`http://${prefix}`);
  if (url === null) {
    return {
      why: "must be a host and a path such as www.example.com/blog/, without scheme and query",
    };
  }
  return `${url.hostname}${url.pathname}`;
}

function outside(address: string, zone: string): string | null {
  const host = address.split("/", 1)[0]!;
  return host === zone || host.endsWith(`.${zone}`) ? null : `must lie in the zone ${zone}`;
}
