/** Makes versions and puts them in place: what is to be written of a script, once the version has been checked. */
import { randomUUID } from "node:crypto";
import type { Bound, Database } from "#db";
import { randomId } from "#kit/random.ts";
import { checkBinding } from "./binding-rules.ts";
import {
  checkBindingNames,
  checkCompatibility,
  checkContent,
  checkSize,
  type ContentRules,
} from "./content-rules.ts";
import { invalid, quoted, ScriptFault } from "./fault.ts";
import { type Manifest, nothingFresh, pack, type Packed, store } from "./manifest.ts";
import { keptBindings, withSecrets } from "./merge-bindings.ts";
import type {
  By,
  Deployment,
  RunnableScript,
  Script,
  ScriptEdit,
  Upload,
  VersionInfo,
} from "./model.ts";
import type { Change } from "./script-changes.ts";
import * as rows from "./script-rows.ts";
import { keptVersion, type VersionStore } from "./version-store.ts";

/** As many as the original shows. */
export const DEPLOYMENTS_KEPT = 100;
/** As in the original; it stands in lists. */
const MAX_MESSAGE = 1_000;
const MAX_TAG = 100;

export interface VersionChangesOptions {
  readonly db: Database;
  readonly now: () => number;
  readonly store: VersionStore;
  readonly scriptBytes: number;
  readonly check: (script: RunnableScript) => Promise<number>;
  readonly bucketExists: (accountId: string, name: string) => Promise<boolean>;
}

/** A version that was made, with its script. */
export interface MadeVersion {
  readonly script: Script;
  readonly version: VersionInfo;
}

interface Wish {
  readonly by: By;
  readonly isDeployed: boolean;
  readonly message?: string | null;
  readonly tag?: string | null;
}

export class VersionChanges {
  readonly #options: VersionChangesOptions;

  constructor(options: VersionChangesOptions) {
    this.#options = options;
  }

  /** What is wrong with an upload whatever there is already. */
  checkUpload({ content, message = null, tag = null }: Upload): void {
    checkContent(content, this.#rules());
    checkBindingNames(content.bindings);
    if ((message?.length ?? 0) > MAX_MESSAGE) {
      throw invalid(`workers/message: it has more than ${MAX_MESSAGE} characters`);
    }
    if ((tag?.length ?? 0) > MAX_TAG) {
      throw invalid(`workers/tag: it has more than ${MAX_TAG} characters`);
    }
  }

  async upload(script: rows.ScriptRow, upload: Upload, wish: Wish): Promise<Change<MadeVersion>> {
    const base =
      upload.isOfDeployed === true
        ? await this.#deployed(script)
        : await this.#options.db.first(rows.latestVersion({ scriptId: script.id }));
    const earlier = base?.manifest.bindings ?? [];
    const packed = pack(upload.content, keptBindings(upload.content.bindings, upload, earlier));
    await this.#checkReferences(script, packed.manifest);
    const { message = null, tag = null } = upload;
    return this.#add(script, packed, { ...wish, message, tag });
  }

  /** A version like the one that is deployed, with other bindings or another compatibility. */
  async edit(script: rows.ScriptRow, edit: ScriptEdit, by: By): Promise<Change<MadeVersion>> {
    const { manifest: base } = await this.#deployed(script);
    const { compatibilityDate = base.compatibilityDate } = edit;
    const { compatibilityFlags = base.compatibilityFlags } = edit;
    const fresh = nothingFresh();
    let { bindings } = base;
    if (edit.bindings !== undefined) {
      edit.bindings.forEach((binding, i) => checkBinding(binding, `bindings[${i}]`));
      checkBindingNames(edit.bindings);
      const given = edit.bindings.map((binding) => store(binding, fresh));
      bindings = [...given, ...keptBindings(edit.bindings, edit, base.bindings)];
    }
    const manifest = { ...base, bindings, compatibilityDate, compatibilityFlags };
    checkCompatibility(manifest, this.#rules());
    await this.#checkReferences(script, manifest);
    return this.#add(script, { manifest, fresh }, { by, isDeployed: true });
  }

  async setSecrets(
    script: rows.ScriptRow,
    secrets: ReadonlyMap<string, string | null>,
    by: By,
  ): Promise<Change<MadeVersion>> {
    const { manifest: base } = await this.#deployed(script);
    const fresh = nothingFresh();
    const manifest = { ...base, bindings: withSecrets(base.bindings, secrets, fresh) };
    return this.#add(script, { manifest, fresh }, { by, isDeployed: true });
  }

  /** Puts a version in place that was kept before. */
  async deploy(
    script: rows.ScriptRow,
    versionId: string,
    by: By,
    message: string | null,
  ): Promise<Change<Deployment>> {
    const { db, store, check } = this.#options;
    const version = await db.first(rows.versionById({ scriptId: script.id, id: versionId }));
    if (version === null) throw noSuchVersion(versionId);
    await this.#checkReferences(script, version.manifest);
    await check(await store.open(script, version, keptVersion(version.manifest)));
    const { deployment, steps } = this.#deployment(script, versionId, by, message);
    const modifiedAt = deployment.createdAt;
    return { script: { ...script, versionId, modifiedAt }, steps, result: () => deployment };
  }

  async #add(
    script: rows.ScriptRow,
    given: Packed,
    { by, isDeployed, message = null, tag = null }: Wish,
  ): Promise<Change<MadeVersion>> {
    const { now, store, check } = this.#options;
    checkBindingNames(given.manifest.bindings);
    const createdAt = now();
    const number = script.lastNumber + 1;
    const version: VersionInfo = { id: randomUUID(), number, createdAt, ...by, message, tag };
    const runnable = await store.open(script, version, given);
    checkSize(runnable, this.#rules()); // Now with what was kept.
    const startMs = await check(runnable);
    const packed = { ...given, manifest: { ...given.manifest, startMs } };
    const versionId = isDeployed ? version.id : script.versionId;
    const deploying = isDeployed ? this.#deployment(script, version.id, by, message).steps : [];
    return {
      script: { ...script, versionId, modifiedAt: createdAt, lastNumber: number },
      steps: [...(await store.steps(script.id, version, packed, versionId)), ...deploying],
      result: (changed) => ({ script: changed, version }),
    };
  }

  #deployment(
    script: rows.ScriptRow,
    versionId: string,
    by: By,
    message: string | null,
  ): { deployment: Deployment; steps: Bound[] } {
    const createdAt = this.#options.now();
    const deployment = { id: randomUUID(), versionId, createdAt, ...by, message };
    const ofScript = { scriptId: script.id, number: script.revision + 1 };
    const steps = [
      rows.addDeployment({ ...ofScript, ...deployment }),
      rows.forgetDeployments({ scriptId: script.id, kept: DEPLOYMENTS_KEPT }),
    ];
    return { deployment, steps };
  }

  async #deployed({ id: scriptId, name, versionId }: rows.ScriptRow): Promise<rows.VersionRow> {
    const { db } = this.#options;
    const version = versionId && (await db.first(rows.versionById({ scriptId, id: versionId })));
    if (version) return version;
    throw invalid(`No version of ${quoted(name)} is deployed: deploy one first`);
  }

  /** What bindings name must be there. */
  async #checkReferences({ accountId, name }: Script, { bindings }: Manifest): Promise<void> {
    const { db, bucketExists } = this.#options;
    for (const [i, binding] of bindings.entries()) {
      if (binding.type === "bucket" && !(await bucketExists(accountId, binding.bucketName))) {
        const bucket = quoted(binding.bucketName);
        throw invalid(`bindings[${i}].bucket_name: there is no bucket ${bucket} in this account`);
      }
      if (binding.type !== "service" || binding.service === name) continue;
      if ((await db.first(rows.scriptByName({ accountId, name: binding.service }))) === null) {
        const service = quoted(binding.service);
        throw invalid(`bindings[${i}].service: there is no script ${service} in this account`);
      }
    }
  }

  #rules(): ContentRules {
    const { scriptBytes, now } = this.#options;
    const today = new Date(now()).toISOString().slice(0, "2026-11-15".length);
    return { scriptBytes, today };
  }
}

/** A script that has no version yet. */
export function newScript(accountId: string, name: string, now: number): rows.ScriptRow {
  return {
    id: randomId(),
    accountId,
    name,
    createdAt: now,
    modifiedAt: now,
    versionId: null,
    onSubdomain: false,
    settings: { tags: [], logpush: false, observability: null },
    revision: 0,
    lastNumber: 0,
  };
}

export function noSuchVersion(versionId: string): ScriptFault {
  return new ScriptFault("not-found", `The script has no version ${quoted(versionId)}`);
}
