/** The scripts there are, in memory and without their code, and those who hear of their changes. */
import type { Database } from "#db";
import type { ScriptListener } from "./listener.ts";
import type { Script } from "./model.ts";
import type { ScriptFeed } from "./script-feed.ts";
import * as rows from "./script-rows.ts";

export class LiveScripts {
  readonly #db: Database;
  readonly #listeners: ScriptListener[] = [];
  readonly #scripts = new Map<string, Script>();
  /** By account and name. */
  readonly #named = new Map<string, Script>();
  /** The account of each label. */
  #labels = new Map<string, string>();
  /** Counts what is told here: what was read before may be old by then. */
  #told = 0;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(db: Database, feed: ScriptFeed): Promise<LiveScripts> {
    const live = new LiveScripts(db);
    feed.hear("script", (id) => (id === null ? live.#readAll() : live.#read(id)));
    feed.hear("subdomain", () => live.readLabels());
    await live.#readAll();
    await live.readLabels();
    return live;
  }

  follow(listener: ScriptListener): void {
    this.#listeners.push(listener);
  }

  onSubdomain(label: string, name: string): Script | null {
    const accountId = this.#labels.get(label);
    const script = accountId === undefined ? undefined : this.#named.get(key(accountId, name));
    return script?.onSubdomain === true && script.versionId !== null ? script : null;
  }

  /** News of what is known already is left alone. */
  changed(script: Script): void {
    this.#told++;
    const known = this.#scripts.get(script.id);
    if (known !== undefined && known.revision >= script.revision) return;
    const namesake = this.#named.get(key(script.accountId, script.name));
    // A name goes to another script only when the one that had it is gone.
    if (namesake !== undefined && namesake.id !== script.id) this.removed(namesake.id);
    this.#scripts.set(script.id, script);
    this.#named.set(key(script.accountId, script.name), script);
    for (const listener of this.#listeners) listener.changed(script);
  }

  removed(id: string): void {
    this.#told++;
    const script = this.#scripts.get(id);
    if (script === undefined) return;
    this.#scripts.delete(id);
    this.#named.delete(key(script.accountId, script.name));
    for (const listener of this.#listeners) listener.removed(script);
  }

  async readLabels(): Promise<void> {
    const labels = await this.#undisturbed(() => this.#db.all(rows.everySubdomain({})));
    this.#labels = new Map(labels.map(({ accountId, label }) => [label, accountId]));
    for (const listener of this.#listeners) listener.relabelled?.();
  }

  async #read(id: string): Promise<void> {
    const script = await this.#undisturbed(() => this.#db.first(rows.scriptById({ id })));
    if (script === null) this.removed(id);
    else this.changed(script);
  }

  async #readAll(): Promise<void> {
    const scripts = await this.#undisturbed(() => this.#db.all(rows.everyScript({})));
    const ids = new Set(scripts.map(({ id }) => id));
    for (const id of this.#scripts.keys()) if (!ids.has(id)) this.removed(id);
    for (const script of scripts) this.changed(script);
  }

  /** Reads, again if something was told meanwhile: that may be newer. */
  async #undisturbed<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const told = this.#told;
      const found = await read();
      if (told === this.#told) return found;
    }
  }
}

function key(accountId: string, name: string): string {
  return `${accountId} ${name}`;
}
