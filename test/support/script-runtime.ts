/** A runtime for tests: scripts from memory, limits small, and requests to its places. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import {
  type Binding,
  type RunnableScript,
  type RuntimeLimits,
  type RuntimeOptions,
  RunFolder,
  type ScriptModule,
  type ScriptPlace,
  ScriptRuntime,
} from "#scripts";

const ACCOUNT = "a".repeat(32);

export interface ScriptInit {
  readonly bindings?: readonly Binding[];
  readonly flags?: readonly string[];
  readonly date?: string;
  readonly modules?: readonly ScriptModule[];
  /** The first module is a script that adds listeners. */
  readonly isServiceWorker?: boolean;
  readonly accountId?: string;
}

let versions = 0;

export function scriptOf(name: string, source: string, init: ScriptInit = {}): RunnableScript {
  const module = { name: "index.js", type: "esm", content: Buffer.from(source) } as const;
  return {
    id: `id-${name}`,
    accountId: init.accountId ?? ACCOUNT,
    name,
    versionId: `version-${++versions}`,
    tag: null,
    versionCreatedAt: 1_000,
    main: init.isServiceWorker === true ? null : "index.js",
    modules: [module, ...(init.modules ?? [])],
    compatibilityDate: init.date ?? "2026-11-01",
    compatibilityFlags: init.flags ?? [],
    bindings: init.bindings ?? [],
  };
}

/** A script that answers each request with what an expression gives. */
export function answering(name: string, expression: string, init?: ScriptInit): RunnableScript {
  const source = `export default { async fetch(request, env, ctx) {
    const url = new URL(request.url);
    return new Response(${expression}); } }`;
  return scriptOf(name, source, init);
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class TestRuntime implements AsyncDisposable {
  readonly runtime: ScriptRuntime;
  readonly folder: string;
  readonly metrics: Metrics;
  readonly log: Log;
  /** What was logged. */
  readonly lines: Record<string, unknown>[];
  readonly #scripts: Map<string, RunnableScript>;
  readonly #runFolder: RunFolder;

  private constructor(given: {
    runtime: ScriptRuntime;
    folder: string;
    metrics: Metrics;
    log: Log;
    lines: Record<string, unknown>[];
    scripts: Map<string, RunnableScript>;
    runFolder: RunFolder;
  }) {
    this.runtime = given.runtime;
    this.folder = given.folder;
    this.metrics = given.metrics;
    this.log = given.log;
    this.lines = given.lines;
    this.#scripts = given.scripts;
    this.#runFolder = given.runFolder;
  }

  static async open(
    limits: Partial<RuntimeLimits> = {},
    options: Partial<RuntimeOptions> = {},
  ): Promise<TestRuntime> {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-runtime-"));
    const lines: Record<string, unknown>[] = [];
    const log = new Log({
      format: "json",
      level: "debug",
      now: Date.now,
      write: (text) => {
        for (const line of text.trim().split("\n")) lines.push(JSON.parse(line));
      },
    });
    const scripts = new Map<string, RunnableScript>();
    const metrics = new Metrics();
    const runFolder = await RunFolder.open(join(folder, "run"));
    const runtime = await ScriptRuntime.open({
      folder: runFolder,
      storeSocket: join(folder, "store"),
      bindingModule: async () => "export default () => null;",
      load: async (id) => [...scripts.values()].find((script) => script.id === id) ?? null,
      loadByName: async (_, name) => scripts.get(name) ?? null,
      outbound: [],
      log,
      metrics,
      now: Date.now,
      ...options,
      limits: {
        processes: 20,
        memoryMib: 128,
        cpuSeconds: 10,
        startSeconds: 10,
        idleSeconds: 300,
        drainSeconds: 10,
        ...limits,
      },
    });
    return new TestRuntime({ runtime, folder, metrics, log, lines, scripts, runFolder });
  }

  /** As an upload does: checked, kept, told. */
  async deploy(script: RunnableScript): Promise<void> {
    await this.runtime.check(script);
    this.put(script);
  }

  /** Kept and told, without a check. */
  put(script: RunnableScript): void {
    this.#scripts.set(script.name, script);
    this.runtime.changed(script);
  }

  remove(name: string): void {
    const script = this.#scripts.get(name)!;
    this.#scripts.delete(name);
    this.runtime.removed(script.id);
  }

  async get(name: string, path = "/", headers: Record<string, string> = {}): Promise<Answer> {
    using place = await this.runtime.open(`id-${name}`);
    return await ask(place, path, headers); // Not before the answer is the place given back.
  }

  async text(name: string, path = "/"): Promise<string> {
    return (await this.get(name, path)).text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime[Symbol.asyncDispose]();
    await this.#runFolder[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Ids of the processes that run configurations of its folder. */
export function processesOf({ folder }: TestRuntime): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter(Number.isInteger)
    .filter((pid) => {
      try {
        return readCommand(pid).includes(`${folder}/`);
      } catch {
        return false;
      }
    });
}

export function readCommand(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

export function ask(
  { upstream }: ScriptPlace,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const lines = Object.entries({ Host: "example.com", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return new Promise((resolve, reject) => {
    let status = 0;
    const body: Buffer[] = [];
    const sink = {
      head: (answer: { status: number }) => (status = answer.status),
      data: (octets: Buffer) => body.push(octets),
      end: () => resolve({ status, text: Buffer.concat(body).toString() }),
      fail: reject,
    };
    upstream.send("GET", head, sink).finish();
  });
}
