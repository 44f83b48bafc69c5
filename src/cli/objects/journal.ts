/**
 * What of a transfer is done, so that the same command goes on where it was stopped. A file in the user's cache
 * folder, named after what is transferred: a line of its head, then a line for each part. Lines are only ever added;
 * one that was cut short by a crash does not count.
 */
import { createHash } from "node:crypto";
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../context.ts";

/** The server forgets an upload after a week. */
const LIFETIME_MS = 7 * 86_400_000;

export class Journal<Head> {
  readonly #path: string;
  /** Null before `begin`. */
  head: Head | null = null;
  /** The MD5 of each part that is done, by its number. */
  readonly parts = new Map<number, string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** `what` tells this transfer from all others: it goes on only when all of it is the same again. */
  static async open<Head>(folder: string, what: Readonly<Record<string, unknown>>) {
    const name = createHash("sha256").update(JSON.stringify(what)).digest("hex");
    const journal = new Journal<Head>(join(folder, `${name}.jsonl`));
    await journal.#read();
    return journal;
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    // What follows would spoil the next line.
    if (whole !== text) await truncate(this.#path, Buffer.byteLength(whole));
    if (whole === "") return;
    const [head = "", ...parts] = whole.trimEnd().split("\n");
    try {
      this.head = JSON.parse(head) as Head;
      for (const line of parts) {
        const [number, md5] = JSON.parse(line) as [number, string];
        this.parts.set(number, md5);
      }
    } catch {
      await this.drop(); // Damaged: the transfer begins anew.
    }
  }

  async begin(head: Head): Promise<void> {
    this.head = head;
    this.parts.clear();
    await mkdir(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    await writeFile(this.#path, `${JSON.stringify(head)}\n`, { mode: 0o600 });
  }

  async add(part: number, md5: string): Promise<void> {
    this.parts.set(part, md5);
    await appendFile(this.#path, `${JSON.stringify([part, md5])}\n`);
  }

  /** The transfer is done, or of no use any more. */
  async drop(): Promise<void> {
    this.head = null;
    this.parts.clear();
    await rm(this.#path, { force: true });
  }
}

/** Where journals are. https://specifications.freedesktop.org/basedir-spec */
export function journalFolder(env: Environment): string {
  const cache = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return join(cache, "selvedge", "transfers");
}

/** Removes journals that nobody can go on with any more. */
export async function dropOldJournals(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const changed = await stat(path).catch(() => null);
    if (changed !== null && now - changed.mtimeMs > LIFETIME_MS) await rm(path, { force: true });
  }
}
