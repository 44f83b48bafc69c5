/** A version of a script as the API shows it, and how people name one. */
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { ApiBinding } from "./upload.ts";

export interface Version {
  readonly id: string;
  readonly number: number;
  readonly metadata: {
    readonly created_on: string;
    readonly author_email?: string;
    readonly source?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface VersionView extends Version {
  readonly resources: {
    readonly bindings: readonly ApiBinding[];
    readonly script: {
      readonly etag?: string;
      readonly modules?: readonly { name: string; type: string; size: number }[];
    };
    readonly script_runtime: {
      readonly compatibility_date?: string;
      readonly compatibility_flags?: readonly string[];
    };
  };
}

export function messageOf({ annotations }: Pick<Version, "annotations">): string {
  return annotations?.["workers/message"] ?? "";
}

export function tagOf({ annotations }: Pick<Version, "annotations">): string {
  return annotations?.["workers/tag"] ?? "";
}

/** `upload`, `secret`: what made it. */
export function madeBy({ annotations }: Pick<Version, "annotations">): string {
  return annotations?.["workers/triggered_by"] ?? "";
}

/** Newest first. */
export async function allVersions(context: CommandContext, path: string): Promise<Version[]> {
  const { items } = await context.api.get<{ items: Version[] }>(`${path}/versions`, {
    per_page: 1_000,
  });
  return items.toSorted((a, b) => b.number - a.number);
}

/** Of an id; what is shorter is too easily another's, or a number. */
const LEAST_BEGINNING = 4;

/** By its id, the beginning of it, or its number. */
export function findVersion(versions: readonly Version[], wanted: string): Version {
  const number = /^#?\d{1,9}$/.test(wanted) ? Number(wanted.replace("#", "")) : null;
  const byNumber = versions.filter((version) => version.number === number);
  const byId = ({ id }: Version) =>
    wanted.length >= LEAST_BEGINNING && id.startsWith(wanted.toLowerCase());
  const found = byNumber.length > 0 ? byNumber : versions.filter(byId);
  if (found.length === 1) return found[0]!;
  const known = versions.slice(0, 5).map(({ number, id }) => `  ${number}  ${id}`);
  const why =
    found.length > 1
      ? `Several versions begin with "${wanted}"`
      : `There is no version "${wanted}"`;
  throw new CliFault(
    "not-found",
    `${why}. "selvedge versions list" shows them all; the latest are:\n${known.join("\n")}`,
  );
}
