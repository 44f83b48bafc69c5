/** Tells which server is asked, and as whom. */
import type { Account } from "./accounts.ts";
import { ApiFault } from "./api-fault.ts";
import { command } from "./command.ts";

interface User {
  readonly id: string;
  readonly email: string;
}

export const whoami = command({
  path: "whoami",
  summary: "tell which server is asked, and as whom",
  examples: [["selvedge whoami", "the server, the user or token, and the accounts"]],
  json: "the server, the user, the kind of credentials and the accounts",
  async run(_, context) {
    const { api, out, serverUrl: server, usesToken } = context;
    const accounts = await api.all<Account>("/accounts");
    const user = await api.get<User>("/user").catch(unlessHidden);
    const credentials = usesToken ? "token" : "key";
    const shown = { id: user?.id ?? null, email: user?.email ?? null };
    out.result({ server, user: shown, credentials, accounts: accounts.map(briefly) }, () =>
      out.fields([
        ["Server", server],
        ["As", `${user?.email ?? "someone this token may not name"} (by ${credentials})`],
        ...accounts.map(({ id, name }) => ["Account", `${name} (${id})`] as const),
      ]),
    );
  },
});

/** A token of an account is nobody's, and one of a user's need not be able to read who that is. */
function unlessHidden(error: unknown): null {
  if (error instanceof ApiFault && error.kind === "not-allowed") return null;
  throw error;
}

function briefly({ id, name }: Account): Account {
  return { id, name };
}
