/** Sends the change of one record and says what came of it, or would. */
import { ApiFault } from "../api-fault.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { visible } from "../table.ts";
import { type DryRun, showDryRun } from "./change.ts";
import { type DnsRecord, recordLine } from "./record.ts";

export interface RecordWrite {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: object;
  readonly dryRun: boolean;
  /** `Added`, `Changed`. */
  readonly done: string;
}

export async function writeRecord(
  { api, out }: CommandContext,
  { method, path, body, dryRun, done }: RecordWrite,
): Promise<void> {
  const query = dryRun ? { dry_run: true } : {};
  const { result, messages } = await api
    .request<DnsRecord | DryRun>(method, path, { body, query })
    .catch(advised);
  for (const { message } of messages) out.warn(`${message}.`);
  if ("dry_run" in result) out.result(result, () => showDryRun(result, out.style));
  else out.result(result, `${done} ${visible(recordLine(result))}`);
}

/** The API's field is an option here. */
function advised(error: unknown): never {
  const lacksPriority =
    error instanceof ApiFault &&
    error.errors.some(({ message }) => message.startsWith("priority "));
  if (!lacksPriority) throw error;
  throw new CliFault("usage", `${error.message} Give it with --priority.`, { cause: error });
}
