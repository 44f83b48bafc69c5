/** Shows what changed in a zone, when and by whom, newest first. */
import { arg, command, text, whole } from "../command.ts";
import type { CommandContext } from "../context.ts";
import type { Styles } from "../style.ts";
import { showTime } from "../units.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { changeLines, type RecordChange } from "./change.ts";

interface Entry {
  readonly serial: number;
  readonly at: string;
  readonly actor: string;
  readonly changes: readonly RecordChange[];
}

const DEFAULT_ENTRIES = 20;
/** The API's own limit of a page. */
const MOST_PER_PAGE = 100;

export const recordHistory = command({
  path: "record history",
  summary: "show what changed in a zone, newest first",
  args: { zone: arg(ZONE_HELP) },
  options: {
    name: text("NAME", "only changes of this name"),
    actor: text("WHO", "only changes by user:ID or token:ID"),
    limit: whole("N", `at most so many; ${DEFAULT_ENTRIES} unless told`, { least: 1, most: 1e6 }),
    before: whole("SERIAL", "only what came before this serial", { least: 0, most: 2 ** 32 - 1 }),
  },
  examples: [
    ["selvedge record history example.com --name www", "all that happened to www"],
    ["selvedge record revert example.com SERIAL", "goes back to a serial from this list"],
  ],
  json: "one array of changes",
  async run({ args, options }, context) {
    const { api, out } = context;
    const zone = await findZone(context, args.zone);
    const { name, actor, limit = DEFAULT_ENTRIES } = options;
    const found: Entry[] = [];
    for (let before = options.before; ;) {
      const per_page = Math.min(limit - found.length, MOST_PER_PAGE);
      const query = { name, actor, per_page, before_serial: before };
      const path = `/zones/${zone.id}/dns_records/history`;
      const { result, envelope } = await api.request<Entry[]>("GET", path, { query });
      found.push(...result);
      before = envelope["next_before_serial"] as number | undefined;
      if (before === undefined || found.length >= limit) break;
    }
    const names = await knownNames(context);
    if (found.length === 0) out.note(`Nothing of that kind has changed in ${zone.name}.`);
    out.result(found, () => found.map((entry) => showEntry(entry, names, out.style)).join("\n"));
  },
});

/** The e-mail address of whoever asks: the API tells nobody's else. */
async function knownNames({ api, out }: CommandContext): Promise<Map<string, string>> {
  if (out.json) return new Map();
  const user = await api.get<{ id: string; email: string }>("/user").catch(() => null);
  return new Map(user === null ? [] : [[`user:${user.id}`, user.email]]);
}

function showEntry(
  { serial, at, actor, changes }: Entry,
  names: ReadonlyMap<string, string>,
  style: Styles,
): string {
  const who = names.get(actor) ?? actor;
  const head = `${style.bold(String(serial))}  ${showTime(at)}  ${style.dim(who)}`;
  return `${head}\n${changeLines(changes, style, "  ")}`;
}
