/** What a change does to a zone's records, line by line, as the API's dry runs and history tell it. */
import type { Styles } from "../style.ts";
import { visible } from "../table.ts";
import { type DnsRecord, recordLine } from "./record.ts";

export interface RecordChange {
  readonly action: "create" | "update" | "delete";
  readonly before: DnsRecord | null;
  readonly after: DnsRecord | null;
}

export interface DryRun {
  readonly dry_run: true;
  readonly serial: number;
  readonly changes: readonly RecordChange[];
}

/** A line with `-` for what goes, with `+` for what comes. */
export function changeLines(changes: readonly RecordChange[], style: Styles, indent = ""): string {
  const lines = changes.flatMap(({ before, after }) => [
    ...(before === null ? [] : [style.red(`${indent}- ${visible(recordLine(before))}`)]),
    ...(after === null ? [] : [style.green(`${indent}+ ${visible(recordLine(after))}`)]),
  ]);
  return lines.join("\n");
}

/** What a dry run says to people. */
export function showDryRun({ changes }: DryRun, style: Styles): string {
  if (changes.length === 0) return "Nothing would change.";
  return `${changeLines(changes, style)}\n${summary(changes)} Nothing has changed.`;
}

const verbs = { create: "add", update: "change", delete: "delete" } as const;

/** `2 to add, 1 to delete.` */
export function summary(changes: readonly RecordChange[]): string {
  const counted = Map.groupBy(changes, ({ action }) => action);
  const told = Object.entries(verbs).flatMap(([action, verb]) => {
    const count = counted.get(action as keyof typeof verbs)?.length ?? 0;
    return count === 0 ? [] : [`${count} to ${verb}`];
  });
  return `${told.join(", ")}.`;
}
