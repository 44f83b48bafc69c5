/** Who changes a script, as its versions and deployments tell it. */
import { type Accounts, type Identity, personBehind } from "#accounts";
import type { By } from "#scripts";

/** What made a version or a deployment, in the words that wrangler knows. */
type Trigger = "upload" | "secret" | "rollback";

export async function by(identity: Identity, accounts: Accounts, trigger: Trigger): Promise<By> {
  const person = personBehind(identity);
  const author = person === null ? `token ${identity.id}` : (await accounts.user(person)).email;
  return { author, trigger };
}
