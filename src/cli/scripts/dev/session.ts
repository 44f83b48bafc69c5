/** One run of `selvedge dev`: builds, versions and requests from its start to Ctrl-C. */
import { once } from "node:events";
import { watch } from "node:fs";
import { basename, join, relative } from "node:path";
import { Log } from "#kit/log.ts";
import { sourceStacks } from "#kit/source-stacks.ts";
import type { CommandContext } from "../../context.ts";
import { CliFault } from "../../fault.ts";
import { BuildFault } from "../../project/build-fault.ts";
import { type Bundle, watchProject } from "../../project/bundle.ts";
import { readDevVars } from "../../project/dev-vars.ts";
import { projectOf, runnable, type RunnableProject } from "../project-options.ts";
import { openFront } from "./front.ts";
import { LocalPlatform } from "./local-platform.ts";
import { DevReport } from "./report.ts";

export interface DevOptions {
  readonly config: string | undefined;
  readonly env: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
}

const DEFAULT_PORT = 8_787;
/** An editor writes a file in several steps; they are one change. */
const SETTLE_MS = 50;

export async function runDev(options: DevOptions, context: CommandContext): Promise<void> {
  const report = new DevReport(context.out);
  const project = runnable(await projectOf(options, context));
  await using opened = new AsyncDisposableStack();
  const log = new Log({ format: "pretty", level: "error", now: Date.now });
  const platform = opened.use(
    await LocalPlatform.open({
      folder: join(project.folder, ".selvedge"),
      openObjects: (data) => context.openObjects(data).catch(runsAlready),
      hear: (event) => report.event(event),
      log,
    }),
  );
  const session = new Session(platform, report, context);
  opened.use(session);
  const front = opened.use(
    await openFront({
      host: options.host ?? project.dev.host ?? "127.0.0.1",
      port: options.port ?? project.dev.port ?? DEFAULT_PORT,
      mayMove: options.port === undefined,
      open: async () => {
        await session.answerable();
        return platform.open();
      },
      scheduled: async (cron) => {
        await session.answerable();
        return platform.scheduled(cron);
      },
      hear: (request) => report.request(request),
    }),
  );
  await session.follow(project);
  opened.use(watchSettings(project, () => session.settingsChanged(options)));
  report.ready(front.url, project, relative(context.cwd, project.folder));
  if (!context.signal.aborted) await once(context.signal, "abort");
}

/** The store's words are about a server's folder. */
function runsAlready(error: Error): never {
  if (!error.message.endsWith("another Selvedge is running on it.")) throw error;
  const message = 'Another "selvedge dev" runs in this project. Use that one, or end it first.';
  throw new CliFault("failed", message, { cause: error });
}

class Session implements AsyncDisposable {
  readonly #platform: LocalPlatform;
  readonly #report: DevReport;
  readonly #context: CommandContext;
  #watching: AsyncDisposable | null = null;
  #settled = Promise.resolve();
  /** Why nothing can answer; null when something can. */
  #fault: CliFault | null = null;
  #hasRun = false;
  readonly #first = Promise.withResolvers<void>();

  constructor(platform: LocalPlatform, report: DevReport, context: CommandContext) {
    this.#platform = platform;
    this.#report = report;
    this.#context = context;
  }

  /** Waits for the first build. Throws its fault as long as no version has ever run. */
  async answerable(): Promise<void> {
    await this.#first.promise;
    if (!this.#hasRun && this.#fault !== null) throw this.#fault;
  }

  /** Builds the project now and after every change of its sources. */
  async follow(project: RunnableProject): Promise<void> {
    await this.#watching?.[Symbol.asyncDispose]();
    const colour = this.#context.out.noteStyle.red("") !== "";
    const options = { mode: "development", colour } as const;
    this.#watching = await watchProject(project, options, (built) => this.#take(project, built));
    await this.#first.promise;
  }

  /** One change after the other, however fast they come. */
  settingsChanged(options: DevOptions): Promise<void> {
    this.#settled = this.#settled.then(async () => {
      try {
        await this.follow(runnable(await projectOf(options, this.#context)));
      } catch (error) {
        this.#failed(error);
      }
    });
    return this.#settled;
  }

  async #take(project: RunnableProject, built: Bundle | BuildFault): Promise<void> {
    let stacks = (stack: string) => stack;
    try {
      if (built instanceof BuildFault) throw built;
      stacks = sourceStacks(built.sourceMap, built.modules[0]!.name);
      const began = performance.now();
      const { values: secrets } = readDevVars(project.folder, project.environment);
      await this.#platform.run({ project, bundle: built, secrets });
      this.#report.stacks = stacks;
      this.#report.built(built, performance.now() - began, this.#hasRun);
      this.#hasRun = true;
      this.#fault = null;
    } catch (error) {
      this.#failed(error, stacks);
    } finally {
      this.#first.resolve();
    }
  }

  #failed(error: unknown, stacks = (stack: string) => stack): void {
    const message = stacks(error instanceof Error ? error.message : String(error));
    this.#fault = new CliFault("failed", message, { cause: error });
    this.#report.failed(message, this.#hasRun);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#settled;
    await this.#watching?.[Symbol.asyncDispose]();
  }
}

/** The project file and the secrets beside it. */
function watchSettings(project: RunnableProject, changed: () => Promise<void>): Disposable {
  const name = basename(project.path);
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(project.folder, (_, file) => {
    if (file === null || (file !== name && !/^\.(?:dev\.vars|env)(?:\.|$)/.test(file))) return;
    clearTimeout(timer);
    timer = setTimeout(() => void changed(), SETTLE_MS);
  });
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
