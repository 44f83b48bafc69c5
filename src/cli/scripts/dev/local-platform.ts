/** The parts of the platform that a script needs, on this machine: a store in a folder, and the runtime. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bindingModule, listenStoreSocket, scriptAccess } from "#binding";
import type { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { RunFolder, type RunnableScript, ScriptRuntime, type TailEvent } from "#scripts";
import type { LocalObjects } from "../../context.ts";
import { absentService, type LocalScript, runnableScript, SCRIPT_ID } from "./local-script.ts";

/** Wide enough for what people try, narrow enough that a loop shows as one. */
const LIMITS = {
  processes: 10,
  memoryMib: 512,
  cpuSeconds: 30,
  startSeconds: 10,
  idleSeconds: 24 * 60 * 60,
  drainSeconds: 5,
};

/** A script under development talks to servers on the same machine. */
const OUTBOUND = [
  "127.0.0.0/8",
  "::1/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
];

export interface LocalPlatformOptions {
  /** `.selvedge`: what the script keeps, and what the runtime needs. */
  readonly folder: string;
  readonly openObjects: (data: string) => Promise<LocalObjects>;
  readonly hear: (event: TailEvent) => void;
  readonly log: Log;
}

export class LocalPlatform implements AsyncDisposable {
  readonly #owned: AsyncDisposableStack;
  readonly #objects: LocalObjects;
  readonly #runtime: ScriptRuntime;
  readonly #running: { script: RunnableScript | null };

  private constructor(
    owned: AsyncDisposableStack,
    objects: LocalObjects,
    runtime: ScriptRuntime,
    running: { script: RunnableScript | null },
  ) {
    this.#owned = owned;
    this.#objects = objects;
    this.#runtime = runtime;
    this.#running = running;
  }

  static async open(options: LocalPlatformOptions): Promise<LocalPlatform> {
    const { folder, openObjects, log } = options;
    await using opened = new AsyncDisposableStack();
    await mkdir(folder, { recursive: true });
    const objects = opened.use(await openObjects(join(folder, "data")));
    const runFolder = opened.use(await RunFolder.open(join(folder, "run")));
    const storeSocket = join(runFolder.sockets, "store");
    const authorize = scriptAccess((token) => runtime.grant(token), objects.store);
    opened.use(
      await listenStoreSocket({ path: storeSocket, store: objects.store, authorize, log }),
    );
    const running: { script: RunnableScript | null } = { script: null };
    const runtime = opened.use(
      await ScriptRuntime.open({
        folder: runFolder,
        storeSocket,
        bindingModule,
        load: async (id) => (id === SCRIPT_ID ? running.script : null),
        loadByName: async (_, name) => serviceOf(running.script, name),
        limits: LIMITS,
        outbound: OUTBOUND,
        log,
        metrics: new Metrics(),
        now: Date.now,
      }),
    );
    opened.use(await runtime.tail(SCRIPT_ID, options.hear));
    return new LocalPlatform(opened.move(), objects, runtime, running);
  }

  /** From now on requests go to this version. Throws a ScriptFault when it does not start, and changes nothing. */
  async run(local: LocalScript): Promise<void> {
    await this.#makeBuckets(local);
    const script = runnableScript(local, this.#objects.accountId, Date.now());
    const before = this.#running.script;
    this.#running.script = script; // The check asks for services by name, this one's among them.
    try {
      await this.#runtime.check(script);
    } catch (error) {
      this.#running.script = before;
      throw error;
    }
    this.#runtime.changed(script);
  }

  open() {
    return this.#runtime.open(SCRIPT_ID);
  }

  scheduled(cron: string) {
    return this.#runtime.scheduled(SCRIPT_ID, { cron, scheduledTime: Date.now() });
  }

  async #makeBuckets({ project }: LocalScript): Promise<void> {
    const { store, accountId } = this.#objects;
    const there = new Set((await store.buckets([accountId])).map(({ name }) => name));
    const wanted = new Set(project.buckets.map(({ bucketName }) => bucketName));
    for (const name of wanted.difference(there)) await store.createBucket(accountId, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

/** Other scripts do not run here; a script may bind itself. */
function serviceOf(script: RunnableScript | null, name: string): RunnableScript | null {
  if (script === null || script.name === name) return script;
  return absentService(name, script);
}
