/** Shows what changed in a zone, when and by whom, newest first. */
import { z } from "zod";
import { type HistoryEntry, ownerName } from "#zones";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { showTime } from "../shapes.ts";
import { showChange } from "./shape.ts";

const MAX_ENTRIES = 100;
/** Entries looked through at a time for those that a filter wants. */
const STRETCH = 200;

export const recordHistory = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records/history",
  summary: "Show the history of a zone's DNS records",
  permission: "dns.read",
  query: z.object({
    name: z.string().max(1_024).optional(),
    actor: z.string().max(200).optional(),
    /** Entries older than this serial: the last one of the page before. */
    before_serial: z.coerce.number().int().min(0).optional(),
    per_page: z.coerce.number().int().min(1).max(MAX_ENTRIES).default(20),
  }),
  handle: async ({ zone, query }, { records }) => {
    const name = query.name === undefined ? null : ownerName(query.name, zone.name);
    const wanted = (entry: HistoryEntry) =>
      (query.actor === undefined || entry.actor === query.actor) &&
      (name === null ||
        entry.changes.some(({ before, after }) => before?.name === name || after?.name === name));
    const found: HistoryEntry[] = [];
    for (let below = query.before_serial ?? zone.serial + 1; ;) {
      const stretch = await records.history(zone, below, STRETCH);
      found.push(...stretch.filter(wanted));
      if (found.length > query.per_page || stretch.length < STRETCH) break;
      below = stretch.at(-1)!.serial;
    }
    const page = found.slice(0, query.per_page);
    const next = found.length > page.length ? { next_before_serial: page.at(-1)!.serial } : {};
    return new Answer(
      page.map(({ serial, at, actor, changes }) => ({
        serial,
        at: showTime(at),
        actor,
        changes: changes.map((change) => showChange(zone, change)),
      })),
      { beside: next },
    );
  },
});
