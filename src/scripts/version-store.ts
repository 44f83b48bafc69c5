/** Versions in the database: put together from their rows, and written. */
import type { Bound, Database } from "#db";
import { seal, unseal } from "#kit/secrets.ts";
import { type Manifest, nothingFresh, type Packed, partsOf, secretsOf } from "./manifest.ts";
import type { Binding, RunnableScript, Script, ScriptModule, VersionInfo } from "./model.ts";
import * as rows from "./script-rows.ts";

export interface VersionStoreOptions {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly versionsPerScript: number;
}

export class VersionStore {
  readonly #db: Database;
  readonly #sealKey: Uint8Array;
  readonly #most: number;

  constructor({ db, sealKey, versionsPerScript }: VersionStoreOptions) {
    this.#db = db;
    this.#sealKey = sealKey;
    this.#most = versionsPerScript;
  }

  /** A version with all that a process needs; what is fresh need not be in the database. */
  async open(
    script: Pick<Script, "id" | "accountId" | "name">,
    version: VersionInfo,
    { manifest, fresh }: Packed,
  ): Promise<RunnableScript> {
    const { id, accountId, name } = script;
    const { main, compatibilityDate, compatibilityFlags } = manifest;
    const bindings: Binding[] = [];
    for (const stored of manifest.bindings) {
      if (!("ref" in stored)) bindings.push(stored);
      else if (stored.type === "secret") {
        const text = fresh.secrets.get(stored.ref)?.text ?? (await this.#secret(id, stored));
        bindings.push({ type: stored.type, name: stored.name, text });
      } else {
        const data = fresh.parts.get(stored.ref) ?? (await this.#part(id, stored.ref));
        bindings.push({ type: stored.type, name: stored.name, data });
      }
    }
    const modules = await this.modules(id, { manifest, fresh });
    return {
      id,
      accountId,
      name,
      main,
      modules,
      compatibilityDate,
      compatibilityFlags,
      bindings,
      versionId: version.id,
      tag: version.tag,
      versionCreatedAt: version.createdAt,
    };
  }

  async modules(scriptId: string, { manifest, fresh }: Packed): Promise<ScriptModule[]> {
    const modules: ScriptModule[] = [];
    for (const { name, type, part } of manifest.modules) {
      const content = fresh.parts.get(part) ?? (await this.#part(scriptId, part));
      modules.push({ name, type, content });
    }
    return modules;
  }

  /**
   * What writes a version and drops those that are too old. The write must be guarded by the script's
   * revision: what is shared with other versions stays only while nobody else drops any.
   */
  async steps(
    scriptId: string,
    version: VersionInfo,
    { manifest, fresh }: Packed,
    deployed: string | null,
  ): Promise<Bound[]> {
    const there = new Set(
      (await this.#db.all(rows.partHashes({ scriptId }))).map(({ hash }) => hash),
    );
    const steps: Bound[] = [];
    for (const [hash, content] of fresh.parts) {
      if (!there.has(hash)) steps.push(rows.addPart({ scriptId, hash, content }));
    }
    for (const [id, { name, text }] of fresh.secrets) {
      const sealed = seal(this.#sealKey, labelOf(scriptId, name, id), text);
      steps.push(rows.addSecret({ scriptId, id, sealed }));
    }
    steps.push(rows.addVersion({ scriptId, ...version, manifest }));
    const limit = version.number - this.#most;
    return limit < 1
      ? steps
      : [...steps, ...(await this.#drop(scriptId, limit, deployed, manifest))];
  }

  /** Drops versions up to a number, with what no other has; `added` is of one not written yet. */
  async #drop(
    scriptId: string,
    upTo: number,
    deployed: string | null,
    added: Manifest,
  ): Promise<Bound[]> {
    const all = await this.#db.all(rows.manifestsOfScript({ scriptId }));
    const isOld = (one: { id: string; number: number }) =>
      one.number <= upTo && one.id !== deployed;
    const old = all.filter(isOld);
    const kept = [added, ...all.filter((one) => !isOld(one)).map(({ manifest }) => manifest)];
    const unused = (refsOf: (manifest: Manifest) => Set<string>) => {
      const used = new Set(kept.flatMap((manifest) => [...refsOf(manifest)]));
      return new Set(old.flatMap(({ manifest }) => [...refsOf(manifest)])).difference(used);
    };
    return [
      ...old.map(({ id }) => rows.removeVersion({ id })),
      ...[...unused(partsOf)].map((hash) => rows.removePart({ scriptId, hash })),
      ...[...unused(secretsOf)].map((id) => rows.removeSecret({ scriptId, id })),
    ];
  }

  async #part(scriptId: string, hash: string): Promise<Uint8Array> {
    const found = await this.#db.first(rows.partByHash({ scriptId, hash }));
    if (found === null) throw new PartGone(`A part of script ${scriptId} is gone: ${hash}`);
    return found.content;
  }

  async #secret(
    scriptId: string,
    { name, ref: id }: { name: string; ref: string },
  ): Promise<string> {
    const found = await this.#db.first(rows.secretById({ scriptId, id }));
    if (found === null) throw new PartGone(`A secret of script ${scriptId} is gone: ${name}`);
    const text = unseal(this.#sealKey, labelOf(scriptId, name, id), found.sealed);
    if (text === null) throw new Error(`The secret ${name} of script ${scriptId} cannot be opened`);
    return text;
  }
}

/** A version was dropped while it was read. */
export class PartGone extends Error {
  override readonly name = "PartGone";
}

/** A version as its row has it. */
export function keptVersion(manifest: Manifest): Packed {
  return { manifest, fresh: nothingFresh() };
}

/** Binds a sealed secret to its place, so that two rows cannot be exchanged. */
function labelOf(scriptId: string, name: string, id: string): string {
  return `script ${scriptId} secret ${name} ${id}`;
}
