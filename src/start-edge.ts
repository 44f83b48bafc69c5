/** The edge's listener, before the names and the scripts that it serves. */
import { edgeDoor, ProxiedNames, type ScriptRoutes } from "#edge";
import { type HttpListener, listenHttp } from "#http";
import type { HostPort } from "#kit/address.ts";
import type { Ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { Records, Zones } from "#zones";
import type { Config } from "./config.ts";
import type { StartedScripts } from "./start-scripts.ts";

export interface EdgeParts {
  readonly zones: Zones;
  readonly records: Records;
  readonly scripts: StartedScripts;
  readonly trustedProxies: Ranges | null;
  readonly log: Log;
  readonly metrics: Metrics;
}

export async function startEdge(
  address: HostPort,
  { httpLimits, scriptsDomain }: Config,
  { zones, records, scripts, trustedProxies, log, metrics }: EdgeParts,
): Promise<HttpListener> {
  const names = new ProxiedNames({ recordsAt: (zone, name) => records.at(zone, name) });
  names.load(await zones.follow(names));
  const turnedAway = metrics.counter(
    "selvedge_edge_connections_refused_total",
    "Connections over a limit.",
  );
  const door = await listenHttp({
    address,
    flag: "--edge",
    limits: httpLimits,
    unlimited: trustedProxies,
    ...edgeDoor({
      names,
      routes: scriptRoutes(scripts, scriptsDomain),
      openScript: (scriptId) => scripts.runtime.open(scriptId),
      trustedProxies,
      log: log.with({ door: "edge" }),
      metrics,
    }),
    onTurnedAway: () => turnedAway.count(),
  });
  metrics.gauge(
    "selvedge_edge_connections",
    "Open connections to the edge.",
    () => door.connections,
  );
  return door;
}

/** The routes of zones, and the names that scripts have without a zone: NAME.SUBDOMAIN under one domain. */
function scriptRoutes({ routes, scripts }: StartedScripts, domain: string): ScriptRoutes {
  const suffix = `.${domain}`;
  return {
    match: (zoneId, hostname, target, scheme) => routes.match(zoneId, hostname, target, scheme),
    ownHost(hostname) {
      if (!hostname.endsWith(suffix)) return null;
      const [name, label, ...more] = hostname.slice(0, -suffix.length).split(".");
      return label === undefined || more.length > 0 ? null : scripts.onSubdomain(label, name!);
    },
  };
}
