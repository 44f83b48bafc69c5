/** What stands where a script's custom domains shall: DNS records that lead elsewhere, other scripts. */
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import { type DnsRecord, recordLine } from "../records/record.ts";
import type { Change } from "./changes.ts";
import type { ScriptAddress } from "./project-options.ts";
import { orUnseen, type Placed, recordsOf } from "./route-places.ts";

export type DomainConflict =
  | { readonly kind: "records"; readonly hostname: string; readonly records: readonly DnsRecord[] }
  | { readonly kind: "script"; readonly hostname: string; readonly script: string };

const ADDRESS_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);

export async function domainConflicts(
  domains: readonly Placed[],
  { account, name }: ScriptAddress,
  context: CommandContext,
): Promise<DomainConflict[]> {
  if (domains.length === 0) return [];
  const asked = context.api.get<ScriptDomain[]>(`${account}/workers/domains`);
  const owners = new Map((await orUnseen(asked))?.map((one) => [one.hostname, one.service]));
  const found: DomainConflict[] = [];
  for (const { route, zone } of domains) {
    const hostname = route.pattern.toLowerCase();
    if (/[*/:]/.test(hostname)) {
      throw wrongUsage(`The custom domain "${hostname}" must be a hostname, and nothing else.`);
    }
    const script = owners.get(hostname) ?? name;
    if (script !== name) found.push({ kind: "script", hostname, script });
    const records = await recordsOf(context, zone, { name: hostname });
    const addresses = (records ?? []).filter(({ type }) => ADDRESS_TYPES.has(type));
    const leadElsewhere = addresses.length > 0 && !addresses.some(({ proxied }) => proxied);
    if (leadElsewhere) found.push({ kind: "records", hostname, records: addresses });
  }
  return found;
}

export interface ScriptDomain {
  readonly hostname: string;
  readonly service: string;
}

/** `- record cd.example.com 300 A 192.0.2.1`, `~ domain cd.example.com: of other → of shop` */
export function conflictChanges(conflicts: readonly DomainConflict[], name: string): Change[] {
  return conflicts.flatMap((conflict): Change[] => {
    if (conflict.kind === "records") {
      return conflict.records.map((record) => ({
        what: `record ${recordLine(record)}`,
        before: "",
        after: null,
      }));
    }
    const what = `domain ${conflict.hostname}`;
    return [{ what, before: `of ${conflict.script}`, after: `of ${name}` }];
  });
}

/** `Replace the DNS records of a.example, and take b.example from the script other?` */
export function conflictQuestion(conflicts: readonly DomainConflict[]): string {
  const replaced = conflicts.filter(({ kind }) => kind === "records");
  const taken = conflicts.flatMap((one) =>
    one.kind === "script" ? [`take ${one.hostname} from the script ${one.script}`] : [],
  );
  const names = replaced.map(({ hostname }) => hostname).join(", ");
  const deeds = [...(replaced.length > 0 ? [`replace the DNS records of ${names}`] : []), ...taken];
  const question = deeds.join(", and ");
  return `${question.charAt(0).toUpperCase()}${question.slice(1)}?`;
}
