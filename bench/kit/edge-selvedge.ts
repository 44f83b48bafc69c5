/** Our edge as a contender, with its zones made through the management API. */
import type { EdgeContender } from "./edge-launch.ts";
import { HOSTS, ORIGIN } from "./edge-site.ts";
import type { Leftovers } from "./leftovers.ts";
import { onApi } from "./scripts-selvedge.ts";
import { selvedge } from "./selvedge.ts";

export const OURS = "selvedge";

/** No question is asked of its nameserver, and its threads would count. */
const ARGS = ["--dns", "off", "--edge", "127.0.0.1:0", "--edge-tls", "127.0.0.1:0"];

/** All connections come from one address, which the default keeps to 1,000 of 10,000. */
const CONNECTIONS = "20000";
const ENV = {
  SELVEDGE_EDGE_ORIGINS: "127.0.0.0/8",
  SELVEDGE_LIMITS_CONNECTIONS: CONNECTIONS,
  SELVEDGE_LIMITS_CONNECTIONS_PER_SOURCE: CONNECTIONS,
} as const;

/** One thread, as the peers have one worker. */
export async function selvedgeEdge(leftovers: Leftovers, threads = 1): Promise<EdgeContender> {
  const data = await leftovers.folder();
  await onApi(leftovers, data, async (api) => {
    for (const name of Object.values(HOSTS)) {
      const { id } = await api.call<{ id: string }>("POST", "/zones", { name });
      const record = { type: "A", name, content: ORIGIN.host, proxied: true };
      await api.call("POST", `/zones/${id}/dns_records`, record);
      const settings = {
        ssl: "flexible", // The origin speaks HTTP only.
        cache_level: name === HOSTS.cached ? "aggressive" : "bypass",
      };
      for (const [setting, value] of Object.entries(settings)) {
        await api.call("PATCH", `/zones/${id}/settings/${setting}`, { value });
      }
    }
  });
  const args = [...ARGS, "--edge-threads", String(threads)];
  const contender = selvedge(leftovers, { door: "edge", data, args, env: ENV });
  return { ...contender, key: OURS };
}
