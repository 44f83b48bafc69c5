/**
 * What is on disk, within a bound of octets: one for all threads of a process. It alone takes files away,
 * the longest unused first. Threads tell it in messages what they have stored and used.
 */
import { readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Ledger } from "./disk-store.ts";

interface Entry {
  readonly octets: number;
  readonly file: string | null;
}

/** What lies in the folder when a process starts. */
interface Found extends Entry {
  readonly name: string;
  readonly at: number;
}

export interface DiskLedgerOptions {
  readonly folder: string;
  readonly limitOctets: number;
  readonly onError: (error: Error) => void;
}

/** Files take whole blocks. */
const BLOCK_OCTETS = 4096;
/** Each takes some 200 octets of memory here. */
const MAX_ENTRIES = 500_000;

export class DiskLedger implements Ledger {
  readonly #options: DiskLedgerOptions;
  /** By name, the longest unused first. */
  readonly #entries = new Map<string, Entry>();
  #octets = 0;
  #evicted = 0;
  /** Deletions that are under way. */
  readonly #pending = new Set<Promise<void>>();

  constructor(options: DiskLedgerOptions) {
    this.#options = options;
  }

  get octets(): number {
    return this.#octets;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many have made room for others. */
  get evicted(): number {
    return this.#evicted;
  }

  stored(name: string, octets: number, file: string | null): void {
    const old = this.#take(name);
    if (old !== undefined && old.file !== null && old.file !== file) this.#delete(old.file);
    this.#entries.set(name, { octets: onDisk(octets), file });
    this.#octets += onDisk(octets);
    while (this.#octets > this.#options.limitOctets || this.#entries.size > MAX_ENTRIES) {
      this.remove(this.#entries.keys().next().value!);
      this.#evicted++;
    }
  }

  used(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
  }

  remove(name: string): void {
    const entry = this.#take(name);
    this.#delete(name);
    if (entry !== undefined && entry.file !== null) this.#delete(entry.file);
  }

  discard(file: string): void {
    this.#delete(file);
  }

  /** Takes in what an earlier process has left, and takes away what it did not finish. */
  async load(): Promise<void> {
    const startedAt = Date.now();
    const found: Found[] = [];
    for (let i = 0; i < 256; i++) {
      found.push(...(await this.#look(i.toString(16).padStart(2, "0"), startedAt)));
    }
    // What was stored in the meantime is known already, and newer.
    const meanwhile = new Map(this.#entries);
    for (const name of meanwhile.keys()) this.#take(name);
    for (const { name, octets, file } of found.sort((a, b) => a.at - b.at)) {
      if (!meanwhile.has(name)) this.stored(name, octets, file);
    }
    for (const [name, { octets, file }] of meanwhile) this.stored(name, octets, file);
  }

  /** A head with no body file or one is an entry; all else was not finished. */
  async #look(part: string, startedAt: number): Promise<Found[]> {
    const { folder } = this.#options;
    const groups = Map.groupBy(await readdir(join(folder, part)).catch(() => []), headNameOf);
    const found: Found[] = [];
    for (const [head, names] of groups) {
      const files: { name: string; octets: number; at: number }[] = [];
      for (const name of names) {
        const facts = await stat(join(folder, part, name)).catch(() => null);
        if (facts !== null) files.push({ name, octets: facts.size, at: facts.mtimeMs });
      }
      if (files.some(({ at }) => at >= startedAt)) continue; // Of this process.
      const bodies = files.filter(({ name }) => BODY_NAME.test(name));
      const isWhole = names.includes(head) && bodies.length <= 1;
      for (const { name } of files) {
        if (!isWhole || (name !== head && !bodies.some((body) => body.name === name))) {
          this.#delete(`${part}/${name}`);
        }
      }
      if (!isWhole) continue;
      found.push({
        name: `${part}/${head}`,
        octets: files.reduce((sum, { octets }) => sum + octets, 0),
        file: bodies[0] === undefined ? null : `${part}/${bodies[0].name}`,
        at: Math.max(...files.map(({ at }) => at)),
      });
    }
    return found;
  }

  /** Resolves when all that must go has gone. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #take(name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#octets -= entry.octets;
    return entry;
  }

  #delete(name: string): void {
    const gone = unlink(join(this.#options.folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") this.#options.onError(error);
    });
    this.#pending.add(gone);
    void gone.then(() => this.#pending.delete(gone));
  }
}

/** Files of one entry begin alike: the head, a dot, then what tells them apart. */
function headNameOf(name: string): string {
  return name.split(".", 1)[0]!;
}

const BODY_NAME = /^[0-9a-f]{30}\.[0-9a-f]{8}$/;

function onDisk(octets: number): number {
  return Math.ceil(octets / BLOCK_OCTETS) * BLOCK_OCTETS;
}
