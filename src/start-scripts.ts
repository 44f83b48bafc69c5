/** The scripts with what they stand on: their rows, the runtime, and the socket that leads to their buckets. */
import { join } from "node:path";
import { bindingModule, LentBodies, listenStoreSocket, scriptAccess } from "#binding";
import type { Database } from "#db";
import type { DiskLedger } from "#edge";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { ObjectFault, type ObjectStore } from "#objects";
import { Routes, RunFolder, Schedules, ScriptRuntime, Scripts } from "#scripts";
import type { Zones } from "#zones";
import type { Config } from "./config.ts";
import { listenScriptCache } from "./start-cache.ts";

export interface ScriptParts {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly zones: Zones;
  readonly objects: ObjectStore;
  /** Of what caches have on disk. */
  readonly ledger: DiskLedger;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export interface StartedScripts {
  /** The folder for sockets of this run. */
  readonly sockets: string;
  readonly scripts: Scripts;
  readonly routes: Routes;
  readonly schedules: Schedules;
  readonly runtime: ScriptRuntime;
  /** What scripts were lent. */
  readonly lent: LentBodies;
}

/** Some times what the original grants a script before it is ready: its machines may be faster. */
const START_SECONDS = 4;

export async function startScripts(
  config: Config,
  { db, sealKey, zones, objects, ledger, log: whole, metrics, now }: ScriptParts,
  started: AsyncDisposableStack,
): Promise<StartedScripts> {
  const { dataDir, scripts: settings, httpLimits } = config;
  const log = whole.with({ part: "scripts" });
  const scripts = await Scripts.open({
    db,
    now,
    sealKey,
    limits: { scriptBytes: settings.bytes, scriptsPerAccount: settings.perAccount },
    check: (script) => runtime.check(script),
    bucketExists: (accountId, name) => bucketExists(objects, accountId, name),
  });
  const folder = started.use(await RunFolder.open(join(dataDir, "run")));
  const storeSocket = join(folder.sockets, "store");
  const lent = started.use(new LentBodies());
  started.use(
    await listenStoreSocket({
      path: storeSocket,
      store: objects,
      authorize: scriptAccess((token) => runtime.grant(token), objects),
      lent,
      log,
    }),
  );
  const cacheSocket = join(folder.sockets, "cache");
  const grant = (token: string) => runtime.grant(token);
  started.use(await listenScriptCache(config, cacheSocket, { ledger, grant, log: whole, now }));
  const runtime = started.use(
    await ScriptRuntime.open({
      folder,
      storeSocket,
      cacheSocket,
      bindingModule,
      load: (scriptId) => scripts.runnable(scriptId),
      loadByName: (accountId, name) => scripts.runnableByName(accountId, name),
      limits: {
        ...settings,
        startSeconds: START_SECONDS,
        drainSeconds: httpLimits.drainSeconds,
      },
      takesLent: true,
      outbound: settings.outbound,
      log,
      metrics,
      now,
    }),
  );
  scripts.follow({
    changed: (script) => runtime.changed(script),
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
  return { sockets: folder.sockets, scripts, routes, schedules, runtime, lent };
}

/** What goes wrong with the store is no answer. */
export async function bucketExists(
  objects: Pick<ObjectStore, "bucket">,
  accountId: string,
  name: string,
): Promise<boolean> {
  try {
    return (await objects.bucket(name)).accountId === accountId;
  } catch (error) {
    if (error instanceof ObjectFault && error.kind === "no-such-bucket") return false;
    throw error;
  }
}
