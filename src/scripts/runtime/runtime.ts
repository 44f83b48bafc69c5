/** Runs scripts: a workerd process for each, started when it is asked for. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ScriptFault } from "../fault.ts";
import type { RunnableScript, Script } from "../model.ts";
import { absentEntrypoints, type Cast, Launcher, type Running } from "./launcher.ts";
import { ProcessPool } from "./process-pool.ts";
import { ScriptSlot } from "./script-slot.ts";
import { TailHub } from "./tail-hub.ts";
import type {
  QueueEvent,
  QueueResult,
  RuntimeOptions,
  ScheduledEvent,
  ScheduledResult,
  ScriptPlace,
  StoreGrant,
  TailEvent,
} from "./types.ts";

/** As the original gives a cron trigger. */
const SCHEDULED_MS = 15 * 60_000;
/** Less than who hands them over holds the lease for that; what takes longer is better put off with `waitUntil`. */
const QUEUE_MS = 60_000;

export class ScriptRuntime implements AsyncDisposable {
  readonly #options: RuntimeOptions;
  readonly #launcher: Launcher;
  readonly #pool: ProcessPool;
  readonly #slots = new Map<string, ScriptSlot>();
  readonly #placeListeners: ((scriptId: string) => void)[] = [];
  readonly #owned = new AsyncDisposableStack();
  #tails!: TailHub;

  private constructor(options: RuntimeOptions, tailSocket: string) {
    this.#options = options;
    this.#launcher = new Launcher({ ...options, controlModule, tailSocket });
    this.#pool = new ProcessPool(this.#launcher, options);
  }

  static async open(options: RuntimeOptions): Promise<ScriptRuntime> {
    const socketPath = join(options.folder.sockets, "tail");
    const runtime = new ScriptRuntime(options, socketPath);
    runtime.#tails = await TailHub.open({
      socketPath,
      traced: (token) => runtime.#launcher.traced(token),
      now: options.now,
    });
    runtime.#owned.use(runtime.#tails);
    runtime.#owned.use(runtime.#pool); // Started last, stops first.
    return runtime;
  }

  /**
   * Starts a version that is not deployed yet and returns how many ms that took; its process stays warm for the
   * deploy that follows.
   */
  async check(script: RunnableScript): Promise<number> {
    const cast = await this.#gather(script);
    const [name] = cast.missing;
    if (name !== undefined) {
      const message = `The script binds the service "${name}", and there is no such script`;
      throw new ScriptFault("does-not-start", message);
    }
    const running = await this.#pool.check(cast);
    this.#pool.keepWarm(script.id, running);
    return running.startMs;
  }

  /**
   * A place with the script's process, which is started if need be. It counts until it is disposed of. Whoever
   * has lost a connection to the process has it looked after first.
   */
  open(scriptId: string, connectionLost = false): Promise<ScriptPlace> {
    return this.#slot(scriptId).place(connectionLost);
  }

  /** Calls with the id of each script whose requests need another place from now on. */
  followPlaces(onMoved: (scriptId: string) => void): void {
    this.#placeListeners.push(onMoved);
  }

  /** The script has another version now: what runs is replaced, the new one up before the old one drains. */
  changed({ id: scriptId, name }: Pick<Script, "id" | "name">): void {
    for (const [id, slot] of this.#slots) {
      if (id === scriptId || slot.holds(scriptId) || slot.lacks(name)) slot.change();
    }
  }

  removed(scriptId: string): void {
    this.#slots.get(scriptId)?.stop();
    this.#slots.delete(scriptId);
    this.#pool.cool(scriptId);
    for (const slot of this.#slots.values()) if (slot.holds(scriptId)) slot.change();
  }

  async scheduled(
    scriptId: string,
    event: ScheduledEvent,
    limitMs = SCHEDULED_MS,
  ): Promise<ScheduledResult> {
    return (await this.#control(scriptId, event, limitMs)) as ScheduledResult;
  }

  /** Hands messages to the script's `queue` handler, and waits until it is done or the signal comes. */
  async queue(scriptId: string, event: QueueEvent, signal?: AbortSignal): Promise<QueueResult> {
    return (await this.#control(scriptId, event, QUEUE_MS, signal)) as QueueResult;
  }

  async #control(
    scriptId: string,
    event: object,
    limitMs: number,
    signal?: AbortSignal,
  ): Promise<unknown> {
    using place = await this.#slot(scriptId).place();
    const limit = AbortSignal.timeout(limitMs);
    const either = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      return JSON.parse(await place.process.control(JSON.stringify(event), either));
    } catch (cause) {
      if (limit.aborted) {
        const message = `The script was given up after ${limitMs / 1000} s`;
        throw new ScriptFault("crashed", message, { cause });
      }
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
      const gather = async () => {
        const script = await this.#options.load(scriptId);
        if (script === null) throw new ScriptFault("not-found", "There is no such script");
        return this.#gather(script);
      };
      const launch = async (cast: Cast) =>
        this.#pool.takeWarm(scriptId, cast.key) ?? this.#launch(cast);
      const onMoved = () => this.#placeListeners.forEach((listener) => listener(scriptId));
      slot = new ScriptSlot({ gather, launch, onMoved, now: this.#options.now });
      this.#slots.set(scriptId, slot);
    }
    return slot;
  }

  #gather(script: RunnableScript): Promise<Cast> {
    return this.#launcher.gather(script, (id) => this.#tails.isHeard(id));
  }

  /** A script that was bound may have lost an entrypoint since: only what needs that fails. */
  async #launch(cast: Cast): Promise<Running> {
    try {
      return await this.#pool.launch(cast);
    } catch (error) {
      const absent = absentEntrypoints(error);
      if (absent.isSubsetOf(cast.absent)) throw error;
      return this.#launch({ ...cast, absent: absent.union(cast.absent) });
    }
  }

  async #retail(scriptId: string): Promise<void> {
    const changing = [...this.#slots.values()].filter((slot) => slot.holds(scriptId));
    for (const slot of changing) slot.change();
    await Promise.allSettled(changing.map((slot) => slot.settled()));
  }
}

let controlSource: Promise<string> | null = null;

/** Read at the first use: a server that runs no script loads no compiler. */
function controlModule(): Promise<string> {
  controlSource ??= readControlModule();
  return controlSource;
}

async function readControlModule(): Promise<string> {
  const isTypeScript = import.meta.url.endsWith(".ts");
  const file = new URL(`./control.worker.${isTypeScript ? "ts" : "js"}`, import.meta.url);
  const source = await readFile(file, "utf8");
  if (!isTypeScript) return source;
  const { transform } = await import("esbuild");
  return (await transform(source, { loader: "ts", target: "esnext" })).code;
}
