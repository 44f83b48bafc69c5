/** A zone as the API shows it, found by its name or id. */
import { domainToASCII } from "node:url";
import { suggestion } from "#kit/closest.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { Column } from "../table.ts";

export interface Zone {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly paused: boolean;
  readonly type: string;
  readonly name_servers: readonly string[];
  readonly created_on: string;
  readonly modified_on: string;
  readonly account: { readonly id: string; readonly name: string };
}

/** For the arguments of all commands that work in one. */
export const ZONE_HELP = "the zone's name or id";

const ID = /^[0-9a-f]{32}$/;

export async function findZone({ api }: CommandContext, wanted: string): Promise<Zone> {
  if (ID.test(wanted)) return api.get<Zone>(`/zones/${wanted}`);
  const name = asKept(wanted);
  const [found] = await api.get<Zone[]>("/zones", { name });
  if (found !== undefined) return found;
  const names = (await api.all<Zone>("/zones")).map((zone) => zone.name);
  const above = names.find((one) => name.endsWith(`.${one}`));
  const guess = above === undefined ? suggestion(name, names) : ` It lies in the zone ${above}.`;
  throw new CliFault("not-found", `There is no zone ${wanted}.${guess}`);
}

/** Lower case, without the last dot, in punycode. */
export function asKept(name: string): string {
  const plain = name.replace(/\.$/, "").toLowerCase();
  return /^[ -~]*$/.test(plain) ? plain : domainToASCII(plain) || plain;
}

/** That a hostname is likely to be in: most zones have two labels, and who has another knows it. */
export function usualZone(hostname: string): string {
  return hostname.split(".").slice(-2).join(".");
}

export const zoneColumns: readonly Column<Zone>[] = [
  { title: "NAME", show: ({ name }) => name, style: "cyan", flexible: true },
  { title: "STATUS", show: ({ status, paused }) => (paused ? `${status}, paused` : status) },
  { title: "TYPE", show: ({ type }) => type },
  { title: "ID", show: ({ id }) => id, style: "dim", droppable: true },
];
