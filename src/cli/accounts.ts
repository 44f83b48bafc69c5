/** Which account a command works in. */
import { suggestion } from "#kit/closest.ts";
import type { ApiClient } from "./api-client.ts";
import { CliFault } from "./fault.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
}

const ID = /^[0-9a-f]{32}$/;

/** By id or name; without either the only one there is. */
export async function findAccount(api: ApiClient, wanted: string | undefined): Promise<Account> {
  if (wanted !== undefined && ID.test(wanted)) return { id: wanted, name: wanted };
  const accounts = await api.all<Account>("/accounts");
  const found = accounts.filter(({ name }) => wanted === undefined || name === wanted);
  if (found.length === 1) return found[0]!;
  const choose = "Choose one with --account or SELVEDGE_ACCOUNT_ID.";
  if (found.length > 1) {
    throw new CliFault("usage", `There are several accounts. ${choose}\n${listed(found)}`);
  }
  if (wanted === undefined || accounts.length === 0) {
    throw new CliFault("not-allowed", `These credentials see no account. ${choose}`);
  }
  const guess = suggestion(
    wanted,
    accounts.map(({ name }) => name),
  );
  const message = `There is no account "${wanted}".${guess} ${choose}\n${listed(accounts)}`;
  throw new CliFault("not-found", message);
}

function listed(accounts: readonly Account[]): string {
  return accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
}
