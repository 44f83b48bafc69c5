/** The scripts with what they stand on: their rows, the runtime, and the socket that leads to their buckets. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bindingModule, listenStoreSocket, scriptAccess } from "#binding";
import type { Database } from "#db";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { ObjectStore } from "#objects";
import { Routes, Schedules, ScriptRuntime, Scripts } from "#scripts";
import type { Zones } from "#zones";
import type { Config } from "./config.ts";

export interface ScriptParts {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly zones: Zones;
  readonly objects: ObjectStore;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export interface StartedScripts {
  readonly scripts: Scripts;
  readonly routes: Routes;
  readonly schedules: Schedules;
  readonly runtime: ScriptRuntime;
}

/** How long a version may take to be ready, and an old one to finish what it was asked. */
const START_SECONDS = 10;

export async function startScripts(
  { dataDir, scripts: settings, httpLimits }: Config,
  { db, sealKey, zones, objects, log: whole, metrics, now }: ScriptParts,
  started: AsyncDisposableStack,
): Promise<StartedScripts> {
  const log = whole.with({ part: "scripts" });
  const scripts = await Scripts.open({
    db,
    now,
    sealKey,
    limits: { scriptBytes: settings.bytes, scriptsPerAccount: settings.perAccount },
    check: (script) => runtime.check(script),
    bucketExists: async (accountId, name) =>
      (await objects.bucket(name).catch(() => null))?.accountId === accountId,
  });
  // The path of a socket has to be short, and a data folder's may not be.
  const sockets = await mkdtemp(join(tmpdir(), "selvedge-"));
  started.defer(() => rm(sockets, { recursive: true, force: true }));
  const storeSocket = join(sockets, "store");
  started.use(
    await listenStoreSocket({
      path: storeSocket,
      store: objects,
      authorize: scriptAccess((token) => runtime.grant(token), objects),
      log,
    }),
  );
  const runtime = started.use(
    await ScriptRuntime.open({
      runDir: join(dataDir, "run"),
      storeSocket,
      bindingModule: await bindingModule(),
      load: (scriptId) => scripts.runnable(scriptId),
      loadByName: (accountId, name) => scripts.runnableByName(accountId, name),
      limits: {
        ...settings,
        startSeconds: START_SECONDS,
        drainSeconds: httpLimits.drainSeconds,
      },
      outbound: settings.outbound,
      log,
      metrics,
      now,
    }),
  );
  scripts.follow({
    changed: ({ id }) => runtime.changed(id),
    removed: ({ id }) => runtime.removed(id),
  });
  const routes = await Routes.open({ db, scripts, zone: (id) => zones.get(id) });
  await zones.follow({ changed: () => {}, removed: ({ id }) => routes.removeZone(id) });
  const schedules = started.use(
    await Schedules.open({
      db,
      scripts,
      now,
      run: (scriptId, event) => runtime.scheduled(scriptId, event),
      log,
    }),
  );
  schedules.start();
  started.use(await scripts.followOthers({ log }));
  return { scripts, routes, schedules, runtime };
}
