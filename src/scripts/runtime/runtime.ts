/** Runs scripts: a workerd process for each, started when it is asked for. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ScriptFault } from "../fault.ts";
import type { RunnableScript } from "../model.ts";
import { Launcher } from "./launcher.ts";
import { ProcessPool } from "./process-pool.ts";
import { RunFolder } from "./run-folder.ts";
import { ScriptSlot } from "./script-slot.ts";
import { TailHub } from "./tail-hub.ts";
import type {
  RuntimeOptions,
  ScheduledEvent,
  ScheduledResult,
  ScriptPlace,
  StoreGrant,
  TailEvent,
} from "./types.ts";

export class ScriptRuntime implements AsyncDisposable {
  readonly #options: RuntimeOptions;
  readonly #launcher: Launcher;
  readonly #pool: ProcessPool;
  readonly #slots = new Map<string, ScriptSlot>();
  readonly #names = new Map<string, string>();
  readonly #owned = new AsyncDisposableStack();
  #tails!: TailHub;

  private constructor(options: RuntimeOptions, folder: RunFolder, controlModule: string) {
    const tailSocket = join(folder.sockets, "tail");
    this.#options = options;
    this.#launcher = new Launcher({ ...options, folder, controlModule, tailSocket });
    this.#owned.use(folder);
    this.#pool = new ProcessPool(this.#launcher, options);
  }

  static async open(options: RuntimeOptions): Promise<ScriptRuntime> {
    const folder = await RunFolder.open(options.runDir);
    const runtime = new ScriptRuntime(options, folder, await controlModule());
    runtime.#tails = await TailHub.open({
      socketPath: join(folder.sockets, "tail"),
      tailed: (token) => runtime.#launcher.tailed(token),
      nameOf: (scriptId) => runtime.#names.get(scriptId) ?? scriptId,
    });
    runtime.#owned.use(runtime.#tails);
    runtime.#owned.use(runtime.#pool); // Started last, stops first.
    return runtime;
  }

  /** Starts a version that is not deployed yet; its process stays warm for the deploy that follows. */
  async check(script: RunnableScript): Promise<void> {
    const cast = await this.#launcher.gather(script, (id) => this.#tails.isHeard(id));
    const [name] = cast.missing;
    if (name !== undefined) {
      const message = `The script binds the service "${name}", and there is no such script`;
      throw new ScriptFault("does-not-start", message);
    }
    this.#pool.keepWarm(script.id, await this.#pool.launch(cast));
  }

  /**
   * A place for one request with the script's process, which is started if need be. It counts until it is
   * disposed of.
   */
  open(scriptId: string): Promise<ScriptPlace> {
    return this.#slot(scriptId).place();
  }

  /** The script has another version now: what runs is replaced, the new one up before the old one drains. */
  changed(scriptId: string): void {
    for (const [id, slot] of this.#slots) {
      if (id === scriptId || slot.current?.members.has(scriptId) === true) slot.change();
    }
    this.#fillGaps(scriptId).catch((cause: unknown) => {
      this.#options.log.warn("script not read", { scriptId, cause });
    });
  }

  removed(scriptId: string): void {
    this.#slots.get(scriptId)?.stop();
    this.#slots.delete(scriptId);
    this.#names.delete(scriptId);
    this.#pool.cool(scriptId);
    for (const slot of this.#slots.values()) {
      if (slot.current?.members.has(scriptId) === true) slot.change();
    }
  }

  async scheduled(scriptId: string, event: ScheduledEvent): Promise<ScheduledResult> {
    using place = await this.#slot(scriptId).place();
    try {
      return JSON.parse(await place.process.control(JSON.stringify(event))) as ScheduledResult;
    } catch (cause) {
      if (!place.process.isEnded) throw cause;
      throw place.fault() ?? new ScriptFault("crashed", "The script's process ended", { cause });
    }
  }

  /**
   * Every event of the script from now on. While nobody listens this costs nothing: processes are replaced
   * by such that tell what they trace, and back.
   */
  async tail(scriptId: string, hear: (event: TailEvent) => void): Promise<AsyncDisposable> {
    if (this.#tails.add(scriptId, hear)) await this.#retail(scriptId);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#tails.remove(scriptId, hear)) await this.#retail(scriptId);
      },
    };
  }

  /** What a store token opens: null unless it is one of a process that runs. */
  grant(token: string): StoreGrant | null {
    return this.#launcher.grant(token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  #slot(scriptId: string): ScriptSlot {
    let slot = this.#slots.get(scriptId);
    if (slot === undefined) {
      const launch = async () => {
        const script = await this.#options.load(scriptId);
        if (script === null) throw new ScriptFault("not-found", "There is no such script");
        this.#names.set(scriptId, script.name);
        const cast = await this.#launcher.gather(script, (id) => this.#tails.isHeard(id));
        for (const member of cast.scripts) this.#names.set(member.id, member.name);
        return this.#pool.takeWarm(scriptId, cast.key) ?? this.#pool.launch(cast);
      };
      slot = new ScriptSlot({ launch, now: this.#options.now });
      this.#slots.set(scriptId, slot);
    }
    return slot;
  }

  /** Processes that have bound a script in vain get it when it is there. */
  async #fillGaps(scriptId: string): Promise<void> {
    const waiting = [...this.#slots.values()].filter(
      (slot) => (slot.current?.missing.size ?? 0) > 0,
    );
    if (waiting.length === 0) return;
    const script = await this.#options.load(scriptId);
    if (script === null) return;
    for (const slot of waiting) {
      if (slot.current?.missing.has(script.name) === true) slot.change();
    }
  }

  async #retail(scriptId: string): Promise<void> {
    const changing = [...this.#slots.values()].filter(
      (slot) => slot.current?.members.has(scriptId) === true,
    );
    for (const slot of changing) slot.change();
    await Promise.allSettled(changing.map((slot) => slot.settled()));
  }
}

/** Source of the platform's own worker. */
async function controlModule(): Promise<string> {
  const isTypeScript = import.meta.url.endsWith(".ts");
  const file = new URL(`./control.worker.${isTypeScript ? "ts" : "js"}`, import.meta.url);
  const source = await readFile(file, "utf8");
  if (!isTypeScript) return source;
  const { transform } = await import("esbuild");
  return (await transform(source, { loader: "ts", target: "esnext" })).code;
}
