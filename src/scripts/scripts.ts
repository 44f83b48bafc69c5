/** Scripts: uploaded, deployed, shown, removed. */
import type { Database } from "#db";
import type { Log } from "#kit/log.ts";
import { checkBindingName, checkText } from "./binding-rules.ts";
import { checkScriptName, checkSettings } from "./content-rules.ts";
import { ScriptFault } from "./fault.ts";
import { defaultScriptLimits, type ScriptLimits } from "./limits.ts";
import type { ScriptListener } from "./listener.ts";
import { LiveScripts } from "./live-scripts.ts";
import { detailOf } from "./manifest.ts";
import type {
  By,
  Deployment,
  RunnableScript,
  Script,
  ScriptEdit,
  ScriptModule,
  Upload,
  VersionDetail,
  VersionInfo,
} from "./model.ts";
import { noSuchScript, ScriptChanges } from "./script-changes.ts";
import { openScriptFeed, type ScriptFeed } from "./script-feed.ts";
import * as rows from "./script-rows.ts";
import { Subdomains } from "./subdomains.ts";
import {
  DEPLOYMENTS_KEPT,
  type MadeVersion,
  newScript,
  noSuchVersion,
  VersionChanges,
} from "./version-changes.ts";
import { keptVersion, PartGone, VersionStore } from "./version-store.ts";

export interface ScriptsOptions {
  readonly db: Database;
  readonly now: () => number;
  readonly sealKey: Uint8Array;
  readonly limits?: Partial<ScriptLimits>;
  /**
   * Starts the version once and returns how many ms that took; throws `ScriptFault("does-not-start")` with the
   * compiler's message.
   */
  readonly check: (script: RunnableScript) => Promise<number>;
  readonly bucketExists: (accountId: string, name: string) => Promise<boolean>;
}

/** How often a version is read that is replaced and dropped meanwhile. */
const MAX_ATTEMPTS = 5;

export class Scripts {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #live: LiveScripts;
  readonly #store: VersionStore;
  readonly #changes: ScriptChanges;
  readonly #versions: VersionChanges;
  readonly #subdomains: Subdomains;
  /** For the parts of this one that follow other nodes too. */
  readonly feed: ScriptFeed;

  private constructor(options: ScriptsOptions, feed: ScriptFeed, live: LiveScripts) {
    const { db, now } = options;
    const limits = { ...defaultScriptLimits, ...options.limits };
    this.#db = db;
    this.#now = now;
    this.#live = live;
    this.feed = feed;
    this.#store = new VersionStore({ ...options, ...limits });
    this.#changes = new ScriptChanges({ db, live, feed, ...limits });
    this.#versions = new VersionChanges({ ...options, ...limits, store: this.#store });
    this.#subdomains = new Subdomains({ db, live, feed });
  }

  static async open(options: ScriptsOptions): Promise<Scripts> {
    const feed = await openScriptFeed(options.db);
    return new Scripts(options, feed, await LiveScripts.open(options.db, feed));
  }

  /** By name. */
  list(accountId: string): Promise<Script[]> {
    return this.#db.all(rows.scriptsOfAccount({ accountId }));
  }

  async get(accountId: string, name: string): Promise<Script> {
    const { lastNumber: _, ...script } = await this.#row(accountId, name);
    return script;
  }

  /** Checks, keeps and deploys a version: all or nothing. Makes the script if there is none. */
  upload(accountId: string, name: string, upload: Upload, by: By): Promise<MadeVersion> {
    return this.#upload(accountId, name, upload, by, true);
  }

  /** Checks and keeps a version that is not deployed. */
  async addVersion(accountId: string, name: string, upload: Upload, by: By): Promise<VersionInfo> {
    return (await this.#upload(accountId, name, upload, by, false)).version;
  }

  async #upload(accountId: string, name: string, upload: Upload, by: By, isDeployed: boolean) {
    checkScriptName(name);
    this.#versions.checkUpload(upload);
    return this.#changes.changeOrMake(accountId, name, (script) => {
      const wish = { by, isDeployed };
      return this.#versions.upload(script ?? newScript(accountId, name, this.#now()), upload, wish);
    });
  }

  deploy(
    accountId: string,
    name: string,
    versionId: string,
    by: By,
    message: string | null = null,
  ): Promise<Deployment> {
    return this.#changes.change(accountId, name, (script) =>
      this.#versions.deploy(script, versionId, by, message),
    );
  }

  /** Newest first: the first one is in place. */
  async deployments(accountId: string, name: string): Promise<Deployment[]> {
    const { id: scriptId } = await this.#row(accountId, name);
    return this.#db.all(rows.deploymentsOfScript({ scriptId, limit: DEPLOYMENTS_KEPT }));
  }

  /** Newest first. */
  async versions(
    accountId: string,
    name: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ versions: VersionInfo[]; total: number }> {
    const { id: scriptId } = await this.#row(accountId, name);
    const versions = await this.#db.all(rows.versionPage({ scriptId, ...page }));
    const count = await this.#db.first(rows.numberOfVersions({ scriptId }));
    return { versions, total: count!.versions };
  }

  async version(accountId: string, name: string, versionId: string): Promise<VersionDetail> {
    const { manifest, ...info } = (await this.#version(accountId, name, versionId)).version;
    return { ...info, ...detailOf(manifest) };
  }

  /** The modules of a version, with what they hold. */
  async modules(accountId: string, name: string, versionId: string): Promise<ScriptModule[]> {
    const { script, version } = await this.#version(accountId, name, versionId);
    return this.#store.modules(script.id, keptVersion(version.manifest));
  }

  /** A change of bindings or compatibility makes a version of the deployed one, and deploys it. */
  async edit(accountId: string, name: string, edit: ScriptEdit, by: By): Promise<Script> {
    const { settings = {}, ...ofVersion } = edit;
    checkSettings(settings);
    return this.#changes.change(accountId, name, async (before) => {
      const script = { ...before, settings: { ...before.settings, ...settings } };
      if (Object.keys(ofVersion).length === 0) {
        const next = { ...script, modifiedAt: this.#now() };
        return { script: next, steps: [], result: (changed: Script) => changed };
      }
      const change = await this.#versions.edit(script, ofVersion, by);
      return { ...change, result: (changed: Script) => changed };
    });
  }

  /** Without `force`, only one that no other script binds. Its routes, domains and schedules go too. */
  remove(accountId: string, name: string, force: boolean): Promise<void> {
    return this.#changes.remove(accountId, name, async () => {
      if (force) return;
      const deployed = await this.#db.all(rows.deployedManifests({ accountId }));
      const users = deployed.filter(({ name: user, manifest }) => {
        const binds = manifest.bindings.some(
          (one) => one.type === "service" && one.service === name,
        );
        return user !== name && binds;
      });
      if (users.length === 0) return;
      const names = users.map((user) => user.name).join(", ");
      throw new ScriptFault("in-use", `The script ${name} is bound as a service by ${names}`);
    });
  }

  /** Sets secrets, or removes those whose text is null; makes one version of the deployed one and deploys it. */
  async putSecrets(
    accountId: string,
    name: string,
    secrets: ReadonlyMap<string, string | null>,
    by: By,
  ): Promise<VersionInfo> {
    for (const [secret, text] of secrets) {
      checkBindingName(secret, "name");
      if (text !== null) checkText(text, "text");
    }
    const make = (script: rows.ScriptRow) => this.#versions.setSecrets(script, secrets, by);
    return (await this.#changes.change(accountId, name, make)).version;
  }

  /** Of the version that is deployed. */
  async secretNames(accountId: string, name: string): Promise<string[]> {
    const { versionId } = await this.#row(accountId, name);
    if (versionId === null) return [];
    const { bindings } = await this.version(accountId, name, versionId);
    return bindings.filter(({ type }) => type === "secret").map((secret) => secret.name);
  }

  setOnSubdomain(accountId: string, name: string, onSubdomain: boolean): Promise<Script> {
    return this.#changes.change(accountId, name, async (script) => {
      return { script: { ...script, onSubdomain }, steps: [], result: (changed) => changed };
    });
  }

  /** The label under which the account's scripts answer; one is made up when there is none. */
  subdomain(accountId: string): Promise<string> {
    return this.#subdomains.get(accountId);
  }

  setSubdomain(accountId: string, label: string): Promise<void> {
    return this.#subdomains.set(accountId, label);
  }

  /** The script that answers as `name.label` under the platform's domain for scripts. Pure memory. */
  onSubdomain(label: string, name: string): { scriptId: string } | null {
    const script = this.#live.onSubdomain(label, name);
    return script && { scriptId: script.id };
  }

  /** What a process runs now; null when there is none. Secrets are open. */
  async runnable(scriptId: string): Promise<RunnableScript | null> {
    for (let attempt = 1; ; attempt++) {
      const script = await this.#db.first(rows.scriptById({ id: scriptId }));
      if (script === null || script.versionId === null) return null;
      const version = await this.#db.first(rows.versionById({ scriptId, id: script.versionId }));
      try {
        if (version !== null) {
          return await this.#store.open(script, version, keptVersion(version.manifest));
        }
      } catch (error) {
        if (!(error instanceof PartGone) || attempt === MAX_ATTEMPTS) throw error;
      }
      if (attempt === MAX_ATTEMPTS) throw new Error(`A version of script ${scriptId} is gone`);
    }
  }

  async runnableByName(accountId: string, name: string): Promise<RunnableScript | null> {
    const script = await this.#db.first(rows.scriptByName({ accountId, name }));
    return script && this.runnable(script.id);
  }

  follow(listener: ScriptListener): void {
    this.#live.follow(listener);
  }

  /** Lets the listeners, routes and schedules hear of what other nodes change too. */
  followOthers({ log }: { readonly log: Log }): Promise<AsyncDisposable | null> {
    return this.feed.follow(log);
  }

  async #row(accountId: string, name: string): Promise<rows.ScriptRow> {
    const script = await this.#db.first(rows.scriptByName({ accountId, name }));
    if (script === null) throw noSuchScript(name);
    return script;
  }

  async #version(accountId: string, name: string, id: string) {
    const script = await this.#row(accountId, name);
    const version = await this.#db.first(rows.versionById({ scriptId: script.id, id }));
    if (version === null) throw noSuchVersion(id);
    return { script, version };
  }
}
