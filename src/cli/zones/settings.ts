/** Shows a zone's settings, or changes some of them. */
import { suggestion } from "#kit/closest.ts";
import { anyArgs, arg, command } from "../command.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import type { Column } from "../table.ts";
import { findZone, ZONE_HELP } from "./zone.ts";

interface Setting {
  readonly id: string;
  readonly value: unknown;
  readonly modified_on: string | null;
}

export const zoneSettings = command({
  path: "zone settings",
  summary: "show or change a zone's settings",
  args: { zone: arg(ZONE_HELP), changes: anyArgs("NAME=VALUE, all changed or none") },
  examples: [
    ["selvedge zone settings example.com", "all settings"],
    ["selvedge zone settings example.com name_policy=rfc1123", "names may begin with a digit"],
  ],
  json: "one array of settings: all, or those changed",
  async run({ args }, context) {
    const { api, out } = context;
    const changes = args.changes.map(splitChange); // What is wrong there needs no server.
    const path = `/zones/${(await findZone(context, args.zone)).id}/settings`;
    const all = await api.get<Setting[]>(path);
    const items = changes.map(([id, text]) => ({ id, value: valueFor(id, text, all) }));
    out.list(items.length === 0 ? all : await api.patch<Setting[]>(path, { items }), columns, "");
  },
});

function splitChange(given: string): [id: string, text: string] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw wrongUsage(`"${given}" is no change of a setting. Write NAME=VALUE.`);
}

/** What is text now stays text (`1.2` is a version of TLS); anything else is JSON. */
function valueFor(id: string, text: string, all: readonly Setting[]): unknown {
  const setting = all.find((one) => one.id === id);
  if (setting === undefined) {
    const guess = suggestion(
      id,
      all.map((one) => one.id),
    );
    throw new CliFault("not-found", `There is no zone setting ${id}.${guess}`);
  }
  if (typeof setting.value === "string") return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const like = `It is now ${JSON.stringify(setting.value)}: write JSON like it.`;
    throw new CliFault("usage", `Cannot set ${id} to "${text}". ${like}`, { cause });
  }
}

const columns: readonly Column<Setting>[] = [
  { title: "SETTING", show: ({ id }) => id, style: "cyan" },
  {
    title: "VALUE",
    show: ({ value }) => (typeof value === "string" ? value : JSON.stringify(value)),
    flexible: true,
  },
];
