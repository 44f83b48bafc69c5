/** The label of an account under the platform's domain for scripts. */
import { type Database, isDatabaseFault } from "#db";
import { randomHex } from "#kit/random.ts";
import { invalid, quoted, ScriptFault } from "./fault.ts";
import type { LiveScripts } from "./live-scripts.ts";
import type { ScriptFeed } from "./script-feed.ts";
import * as rows from "./script-rows.ts";

/** RFC 1123 §2.1. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Enough that two accounts do not get the same. */
const MADE_UP_DIGITS = 12;

export interface SubdomainsOptions {
  readonly db: Database;
  readonly live: LiveScripts;
  readonly feed: ScriptFeed;
}

export class Subdomains {
  readonly #options: SubdomainsOptions;

  constructor(options: SubdomainsOptions) {
    this.#options = options;
  }

  async get(accountId: string): Promise<string> {
    const { db } = this.#options;
    const found = await db.first(rows.subdomainOf({ accountId }));
    if (found !== null) return found.label;
    await this.#write(rows.addSubdomain({ accountId, label: `s${randomHex(MADE_UP_DIGITS)}` }));
    // Another node may have been first.
    return (await db.first(rows.subdomainOf({ accountId })))!.label;
  }

  async set(accountId: string, label: string): Promise<void> {
    if (!LABEL.test(label)) {
      throw invalid(
        `subdomain: ${quoted(label)} is no label: 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends`,
      );
    }
    try {
      await this.#write(rows.setSubdomain({ accountId, label }));
    } catch (error) {
      if (!isDatabaseFault(error, "unique")) throw error;
      throw new ScriptFault("exists", `The subdomain ${label} is another account's`);
    }
  }

  async #write(step: ReturnType<typeof rows.setSubdomain>): Promise<void> {
    const { db, live, feed } = this.#options;
    await db.write(step, ...feed.steps("subdomain", ""));
    feed.signal();
    await live.readLabels();
  }
}
