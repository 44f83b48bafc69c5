/** Lists the account's scripts, with the addresses that lead to each. */
import { atMost } from "#kit/at-once.ts";
import { command } from "../command.ts";
import { showTime } from "../units.ts";
import { routesOf, scriptsHost } from "./deployed.ts";
import type { ScriptDomain } from "./domain-conflicts.ts";
import { ownUrl, routeUrls } from "./urls.ts";

interface Script {
  /** Its name. */
  readonly id: string;
  readonly modified_on: string;
  readonly available_on_subdomain: boolean;
}

interface Listed {
  readonly name: string;
  readonly changed: string;
  readonly routes: readonly string[];
  readonly domains: readonly string[];
  readonly urls: readonly string[];
}

const ASKED_AT_ONCE = 8;

export const listScripts = command({
  path: "list",
  summary: "list the scripts on the server, with their routes and URLs",
  examples: [["selvedge list", "every script of the account"]],
  json: "one array of scripts with their routes, domains and URLs",
  async run(_, context) {
    const { api, out } = context;
    const account = `/accounts/${(await context.account()).id}`;
    const scripts = await api.get<Script[]>(`${account}/workers/scripts`);
    const domains = await api.get<ScriptDomain[]>(`${account}/workers/domains`);
    const host = await scriptsHost(api, account);
    const routes = new Map<string, string[]>();
    await atMost(ASKED_AT_ONCE, scripts, async ({ id }) => {
      routes.set(id, await routesOf(api, account, id));
    });
    const listed = scripts.map((script): Listed => {
      const own = domains.filter(({ service }) => service === script.id);
      return listedOf(script, routes.get(script.id)!, own, host);
    });
    const none = 'There are no scripts. "selvedge init" makes one, "selvedge deploy" ships it.';
    out.list(
      listed,
      [
        { title: "NAME", show: ({ name }) => name, style: "cyan" },
        { title: "CHANGED", show: ({ changed }) => showTime(changed), droppable: true },
        { title: "AT", show: ({ urls }) => urls.join(" "), flexible: true },
      ],
      none,
    );
  },
});

function listedOf(
  { id: name, modified_on, available_on_subdomain: isOn }: Script,
  routes: readonly string[],
  own: readonly ScriptDomain[],
  host: string,
): Listed {
  const domains = own.map(({ hostname }) => hostname);
  const urls = [...(isOn ? [ownUrl(name, host)] : []), ...routeUrls([...domains, ...routes], host)];
  return { name, changed: modified_on, routes, domains, urls };
}
