/**
 * Changes of scripts: one at a time for each script, written under the guard of its revision, told to the
 * listeners before whoever asked hears of it.
 */
import {
  type Bound,
  type Database,
  DatabaseFault,
  isDatabaseFault,
  mustChangeOne,
  untilUndisturbed,
} from "#db";
import { ScriptFault, quoted } from "./fault.ts";
import type { LiveScripts } from "./live-scripts.ts";
import type { Script } from "./model.ts";
import type { ScriptFeed } from "./script-feed.ts";
import * as rows from "./script-rows.ts";
import { Turns } from "./turns.ts";

export interface ScriptChangesOptions {
  readonly db: Database;
  readonly live: LiveScripts;
  readonly feed: ScriptFeed;
  readonly scriptsPerAccount: number;
}

/** A change that is to be written. */
export interface Change<T> {
  /** The script as it will be; its revision rises by itself. */
  readonly script: rows.ScriptRow;
  readonly steps: readonly Bound[];
  /** What came of it, for the script as it is then. */
  readonly result: (script: Script) => T;
}

export class ScriptChanges {
  readonly #options: ScriptChangesOptions;
  /** By account and name. */
  readonly #turns = new Turns();

  constructor(options: ScriptChangesOptions) {
    this.#options = options;
  }

  /** Changes a script that is there. */
  change<T>(
    accountId: string,
    name: string,
    make: (script: rows.ScriptRow) => Promise<Change<T>>,
  ): Promise<T> {
    return this.changeOrMake(accountId, name, async (script) => {
      if (script === null) throw noSuchScript(name);
      return make(script);
    });
  }

  /**
   * Changes a script, or makes it: `make` gets null and gives one of revision 0. It is asked again when
   * another node has changed the script meanwhile.
   */
  changeOrMake<T>(
    accountId: string,
    name: string,
    make: (script: rows.ScriptRow | null) => Promise<Change<T>>,
  ): Promise<T> {
    return this.#inTurn(accountId, name, async (before) => {
      if (before === null) await this.#checkRoom(accountId);
      const { script: changed, steps, result } = await make(before);
      const next = { ...changed, revision: changed.revision + 1 };
      await this.#write(before, next, steps);
      const { lastNumber: _, ...script } = next;
      this.#options.feed.signal();
      this.#options.live.changed(script);
      return result(script);
    });
  }

  /** Removes the script with all that is its own, once `check` lets it. */
  remove(
    accountId: string,
    name: string,
    check: (script: rows.ScriptRow) => Promise<void>,
  ): Promise<void> {
    const { db, feed, live } = this.#options;
    return this.#inTurn(accountId, name, async (script) => {
      if (script === null) throw noSuchScript(name);
      await check(script);
      const { id, revision: seen } = script;
      await db.write(mustChangeOne(rows.removeScript({ id, seen })), ...feed.steps("script", id));
      feed.signal();
      live.removed(id);
    });
  }

  #inTurn<T>(
    accountId: string,
    name: string,
    work: (script: rows.ScriptRow | null) => Promise<T>,
  ): Promise<T> {
    return this.#turns.take(`${accountId} ${name}`, () =>
      untilUndisturbed(async () =>
        work(await this.#options.db.first(rows.scriptByName({ accountId, name }))),
      ),
    );
  }

  async #write(
    before: rows.ScriptRow | null,
    next: rows.ScriptRow,
    steps: readonly Bound[],
  ): Promise<void> {
    const { db, feed, scriptsPerAccount: most } = this.#options;
    const { id, accountId } = next;
    const own =
      before === null
        ? [rows.addScript(next), mustChangeOne(rows.withinScripts({ id, most, accountId }))]
        : [mustChangeOne(rows.setScript({ ...next, seen: before.revision }))];
    try {
      await db.write(...own, ...steps, ...feed.steps("script", id));
    } catch (cause) {
      if (before !== null || !isDatabaseFault(cause, "unique")) throw cause;
      // Another node has made a script of that name: look again.
      throw new DatabaseFault("guard", "Another script took the name", { cause });
    }
  }

  async #checkRoom(accountId: string): Promise<void> {
    const { db, scriptsPerAccount: most } = this.#options;
    const { scripts } = (await db.first(rows.numberOfScripts({ accountId })))!;
    if (scripts < most) return;
    throw new ScriptFault("too-large", `An account has at most ${most} scripts`);
  }
}

export function noSuchScript(name: string): ScriptFault {
  return new ScriptFault("not-found", `There is no script ${quoted(name)}`);
}
