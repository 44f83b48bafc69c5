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

  stored(name: string, octets: number, file: string | null): void {
    const old = this.#take(name);
    if (old !== undefined && old.file !== null && old.file !== file) this.#delete(old.file);
    this.#entries.set(name, { octets: onDisk(octets), file });
    this.#octets += onDisk(octets);
    while (this.#octets > this.#options.limitOctets || this.#entries.size > MAX_ENTRIES) {
      this.remove(this.#entries.keys().next().value!);
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

  /** Takes in what an earlier process has left, and takes away what it did not finish. */
  async load(): Promise<void> {
    const startedAt = Date.now();
    const found: { name: string; octets: number; file: string | null; at: number }[] = [];
    for (let i = 0; i < 256; i++) {
      const part = i.toString(16).padStart(2, "0");
      found.push(...(await this.#look(part, startedAt)));
    }
    // What is stored in the meantime is known already, and newer.
    const known = [...this.#entries];
    for (const [name] of known) this.#take(name);
    const earlier = found.filter(({ name }) => !known.some(([own]) => own === name));
    for (const { name, octets, file } of earlier.sort((a, b) => a.at - b.at)) {
      this.stored(name, octets, file);
    }
    for (const [name, { octets, file }] of known) this.stored(name, octets, file);
  }

  async #look(part: string, startedAt: number) {
    const names = await readdir(join(this.#options.folder, part)).catch(() => []);
    const files: { name: string; octets: number; at: number }[] = [];
    for (const name of names) {
      const facts = await stat(join(this.#options.folder, part, name)).catch(() => null);
      if (facts !== null && facts.mtimeMs < startedAt) {
        files.push({ name: `${part}/${name}`, octets: facts.size, at: facts.mtimeMs });
      }
    }
    const bodies = new Map<string, { name: string; octets: number }>();
    for (const { name, octets } of files) {
      if (!/^.{3}[0-9a-f]{30}(?:\.[0-9a-f]{8})?$/.test(name)) this.#delete(name);
      else if (name.includes(".")) this.#keepLast(bodies, name, octets);
    }
    const heads = files.filter(({ name }) => !name.includes("."));
    const found = heads.map(({ name, octets, at }) => {
      const body = bodies.get(name);
      bodies.delete(name);
      return { name, octets: octets + (body?.octets ?? 0), file: body?.name ?? null, at };
    });
    for (const { name } of bodies.values()) this.#delete(name);
    return found;
  }

  /** Of several bodies of one head only one can be named; which, the head knows. Rare: all go. */
  #keepLast(bodies: Map<string, { name: string; octets: number }>, name: string, octets: number) {
    const head = name.slice(0, name.indexOf("."));
    const other = bodies.get(head);
    if (other !== undefined) {
      this.#delete(other.name);
      this.#delete(head);
    }
    bodies.set(head, { name, octets });
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

function onDisk(octets: number): number {
  return Math.ceil(octets / BLOCK_OCTETS) * BLOCK_OCTETS;
}
