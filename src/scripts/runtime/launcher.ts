/** From a script to a process that runs it, with the scripts that it binds. */
import { join } from "node:path";
import { sha256 } from "#kit/secrets.ts";
import { randomUrlSafe } from "#kit/random.ts";
import { ScriptFault } from "../fault.ts";
import type { RunnableScript } from "../model.ts";
import { entrypointKey } from "./binding-config.ts";
import type { Traced } from "./stack-maps.ts";
import type { RuntimeOptions, StoreGrant } from "./types.ts";
import { Watchdog } from "./watchdog.ts";
import { type Member, workerdConfig } from "./workerd-config.ts";
import { WorkerdProcess } from "./workerd-process.ts";

/** A process and what runs in it. */
export interface Running {
  readonly accountId: string;
  readonly process: WorkerdProcess;
  readonly watchdog: Watchdog;
  /** The versions in it and who is traced: another process with the same would do the same. */
  readonly key: string;
  /** By their ids. */
  readonly members: ReadonlySet<string>;
  /** Names of scripts that it binds and that are not there. */
  readonly missing: ReadonlySet<string>;
  /** How long it took until requests could come. */
  readonly startMs: number;
}

/** What is to run in a process. */
export interface Cast {
  readonly scripts: readonly [RunnableScript, ...RunnableScript[]];
  readonly missing: ReadonlySet<string>;
  /** Keys of entrypoints that are bound and that their scripts do not have, as far as workerd has told. */
  readonly absent: ReadonlySet<string>;
  /** Ids of those whose events are told. */
  readonly tailed: ReadonlySet<string>;
  readonly key: string;
}

export interface LauncherOptions extends RuntimeOptions {
  /** Source of the platform's own worker. */
  readonly controlModule: () => Promise<string>;
  readonly tailSocket: string;
}

/** Of 256 bits. */
const TOKEN_CHARACTERS = 43;
/** A script that binds more, also by others that it binds, is refused: each takes memory in the process. */
const MOST_MEMBERS = 50;

const ABSENT_ENTRYPOINT = /refers to service "([^"]+)" with a named entrypoint "([^"]+)", but/g;

export class Launcher {
  readonly #options: LauncherOptions;
  /** By the digests of tokens, so that the time a search takes tells nothing of them. */
  readonly #grants = new Map<string, StoreGrant>();
  readonly #tails = new Map<string, ReadonlyMap<string, Traced>>();

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  grant(token: string): StoreGrant | null {
    return this.#grants.get(sha256(token)) ?? null;
  }

  /** By their ids, the scripts whose events the token may tell; null for a token that is not known. */
  traced(token: string): ReadonlyMap<string, Traced> | null {
    return this.#tails.get(sha256(token)) ?? null;
  }

  /** Finds the scripts that a script binds, and those that they bind. */
  async gather(script: RunnableScript, tailed: (scriptId: string) => boolean): Promise<Cast> {
    const found = new Map([[script.name, script]]);
    const missing = new Set<string>();
    for (const { bindings } of found.values()) {
      for (const binding of bindings) {
        if (binding.type !== "service" || found.has(binding.service)) continue;
        const bound = await this.#options.loadByName(script.accountId, binding.service);
        if (bound === null) missing.add(binding.service);
        else found.set(bound.name, bound);
      }
      if (found.size > MOST_MEMBERS) {
        const message = `The script binds more than ${MOST_MEMBERS} others, by way of each other`;
        throw new ScriptFault("does-not-start", message);
      }
    }
    const scripts = [...found.values()] as [RunnableScript, ...RunnableScript[]];
    const heard = new Set(scripts.map(({ id }) => id).filter(tailed));
    const versions = scripts.map(({ id, versionId }) => `${id}:${versionId}:${heard.has(id)}`);
    const key = [...versions, ...missing].join(" ");
    return { scripts, missing, absent: new Set(), tailed: heard, key };
  }

  async launch({ scripts, missing, absent, tailed, key }: Cast): Promise<Running> {
    const { folder, limits, log, now, ...plan } = this.#options;
    const name = folder.nextName();
    const members = scripts.map((script) => ({ script, storeToken: newToken() }));
    const tailToken = newToken();
    const paths = {
      httpSocket: join(folder.sockets, `${name}.http`),
      controlSocket: join(folder.sockets, `${name}.ctl`),
    };
    const { text, files } = workerdConfig({
      ...plan,
      bindingModule: await plan.bindingModule(),
      controlModule: await plan.controlModule(),
      ...paths,
      members: members as [Member, ...Member[]],
      absent,
      tailToken,
      tailed,
      memoryMib: limits.memoryMib,
      takesLent: plan.takesLent === true,
    });
    // Read at the start and not again.
    await using config = await folder.write(name, text, files);
    this.#admit(members, tailToken, tailed);
    try {
      const process = await WorkerdProcess.start({
        ...paths,
        configPath: config.path,
        limits,
        log: log.with({ script: scripts[0].name }),
        now,
      });
      void process.ended.then(() => this.#forget(members, tailToken));
      const ids = new Set(scripts.map(({ id }) => id));
      const watchdog = new Watchdog(process, limits, now);
      const { accountId } = scripts[0];
      const startMs = now() - process.startedAt;
      return { accountId, process, watchdog, key, members: ids, missing, startMs };
    } catch (error) {
      this.#forget(members, tailToken);
      throw error;
    }
  }

  #admit(members: readonly Member[], tailToken: string, tailed: ReadonlySet<string>): void {
    for (const { script, storeToken } of members) {
      const buckets = script.bindings.flatMap((binding) =>
        binding.type === "bucket" ? [binding.bucketName] : [],
      );
      this.#grants.set(sha256(storeToken), {
        accountId: script.accountId,
        scriptId: script.id,
        scriptName: script.name,
        buckets: new Set(buckets),
      });
    }
    const traced = members.filter(({ script }) => tailed.has(script.id)).map(tracedMember);
    this.#tails.set(sha256(tailToken), new Map(traced));
  }

  #forget(members: readonly Member[], tailToken: string): void {
    for (const { storeToken } of members) this.#grants.delete(sha256(storeToken));
    this.#tails.delete(sha256(tailToken));
  }
}

/** Keys of entrypoints that workerd says are not there: it does not start with a binding to one. */
export function absentEntrypoints(error: unknown): ReadonlySet<string> {
  if (!(error instanceof ScriptFault) || error.kind !== "does-not-start") return new Set();
  const told = error.message.matchAll(ABSENT_ENTRYPOINT);
  return new Set(
    Array.from(told, ([, service, entrypoint]) => entrypointKey(service!, entrypoint!)),
  );
}

function tracedMember({ script }: Member): [scriptId: string, Traced] {
  const { id, name, versionId, modules } = script;
  const sourceMaps = modules.filter(({ type }) => type === "sourcemap");
  return [id, { name, versionId, sourceMaps }];
}

function newToken(): string {
  return randomUrlSafe(TOKEN_CHARACTERS);
}
