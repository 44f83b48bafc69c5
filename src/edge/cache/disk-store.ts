/**
 * Responses in files. A file's name follows from what it is kept under, so the folder itself is the index:
 * the threads of a process share it without a word, each opens what it looks for. A file comes to be under
 * another name and is renamed when it is whole. What must go, for the bound or a purge, goes through the one
 * ledger (`disk-ledger.ts`).
 */
import { hash } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { randomHex } from "#kit/random.ts";
import { close, open, openIfThere, readAll, readFully, write } from "./descriptors.ts";
import { decodeFile, encodeFile, type FileContent, PIECE_OCTETS } from "./disk-format.ts";
import type { Span } from "./ranges.ts";
import type { FileBody } from "./stored.ts";

/** Hears what is in the folder. */
export interface Ledger {
  /** `file` is that of a body of its own. */
  stored(name: string, octets: number, file: string | null): void;
  used(name: string): void;
  remove(name: string): void;
  /** A body's file that no head names. */
  discard(file: string): void;
}

export class DiskStore {
  readonly #folder: string;
  readonly #ledger: Ledger;

  private constructor(folder: string, ledger: Ledger) {
    this.#folder = folder;
    this.#ledger = ledger;
  }

  static async open(folder: string, ledger: Ledger): Promise<DiskStore> {
    for (let i = 0; i < 256; i++) {
      const name = i.toString(16).padStart(2, "0");
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    }
    return new DiskStore(folder, ledger);
  }

  async read(at: string): Promise<FileContent | null> {
    const name = nameOf(at);
    const bytes = await readAll(join(this.#folder, name));
    if (bytes === null) return null;
    const content = decodeFile(at, bytes);
    if (content === null) this.#ledger.remove(name);
    else this.#ledger.used(name);
    return content;
  }

  /** Resolves when the content can be found. */
  async put(at: string, content: FileContent): Promise<void> {
    const name = nameOf(at);
    const path = join(this.#folder, name);
    const bytes = encodeFile(at, content);
    const draft = `${path}.${randomHex(8)}.new`;
    await writeFile(draft, bytes, { mode: 0o600 });
    await rename(draft, path);
    const body = "head" in content && "file" in content.body ? content.body : null;
    this.#ledger.stored(name, bytes.length + (body?.length ?? 0), body?.file ?? null);
  }

  remove(at: string): void {
    this.#ledger.remove(nameOf(at));
  }

  /** Begins a body in a file of its own. Until a `put` names it, it is nothing. */
  async draft(at: string): Promise<BodyDraft> {
    const file = `${nameOf(at)}.${randomHex(8)}`;
    return new BodyDraft(file, await open(join(this.#folder, file), "wx+", 0o600));
  }

  /** For a body that will not be named. */
  discard({ file }: BodyDraft): void {
    this.#ledger.discard(file);
  }

  /** Null when the file has gone. */
  async openBody(
    body: FileBody,
    span: Span,
    onDamaged: () => void,
  ): Promise<AsyncIterableIterator<Uint8Array> | null> {
    const fd = await openIfThere(join(this.#folder, body.file));
    if (fd === null) return null;
    this.#ledger.used(body.file.slice(0, body.file.indexOf(".")));
    return new FilePieces(fd, body, span, onDamaged);
  }
}

function nameOf(at: string): string {
  const digits = hash("sha256", at, "hex");
  return `${digits.slice(0, 2)}/${digits.slice(2, 32)}`;
}

/** A body that is being written; what is written can be read. */
export class BodyDraft implements AsyncDisposable {
  readonly file: string;
  readonly #fd: number;
  readonly #sums: number[] = [];
  readonly #reads = new Set<Promise<unknown>>();
  #length = 0;

  constructor(file: string, fd: number) {
    this.file = file;
    this.#fd = fd;
  }

  get length(): number {
    return this.#length;
  }

  async append(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      const rest = chunk.subarray(done);
      const count = await write(this.#fd, rest, this.#length);
      this.#sum(rest.subarray(0, count));
      this.#length += count;
      done += count;
    }
  }

  #sum(written: Uint8Array): void {
    for (let done = 0; done < written.length;) {
      const at = this.#length + done;
      const room = PIECE_OCTETS - (at % PIECE_OCTETS);
      const part = written.subarray(done, done + room);
      const piece = Math.floor(at / PIECE_OCTETS);
      this.#sums[piece] = crc32(part, this.#sums[piece] ?? 0);
      done += part.length;
    }
  }

  /** Some octets from the place on, at most a piece; it must have been written. */
  async read(at: number): Promise<Uint8Array> {
    const into = Buffer.allocUnsafeSlow(Math.min(PIECE_OCTETS, this.#length - at));
    const read = readFully(this.#fd, into, at);
    this.#reads.add(read);
    return read.finally(() => this.#reads.delete(read));
  }

  body(): FileBody {
    return { file: this.file, length: this.#length, sums: this.#sums };
  }

  /** Not under a read that nobody waits for any more: the number could be another file's by then. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#reads);
    await close(this.#fd);
  }
}

/** A span of a body, piece by piece: each is read as a whole and checked before any of it is given. */
class FilePieces implements AsyncIterableIterator<Uint8Array> {
  readonly #fd: number;
  readonly #body: FileBody;
  readonly #onDamaged: () => void;
  readonly #end: number;
  #at: number;
  #isClosed = false;
  #reading: Promise<Buffer> | null = null;

  constructor(fd: number, body: FileBody, { start, end }: Span, onDamaged: () => void) {
    this.#onDamaged = onDamaged;
    this.#fd = fd;
    this.#body = body;
    this.#at = start;
    this.#end = Math.min(end, body.length);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#at >= this.#end) return this.return();
    try {
      const piece = Math.floor(this.#at / PIECE_OCTETS);
      const start = piece * PIECE_OCTETS;
      const length = Math.min(PIECE_OCTETS, this.#body.length - start);
      this.#reading = readFully(this.#fd, Buffer.allocUnsafeSlow(length), start);
      const bytes = await this.#reading;
      if (crc32(bytes) !== this.#body.sums[piece]) throw new Error("A cached body is damaged");
      const value = bytes.subarray(this.#at - start, this.#end - start);
      this.#at = start + length;
      return { done: false, value };
    } catch (error) {
      this.#onDamaged();
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#at = this.#end;
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#reading?.catch(() => {});
      await close(this.#fd);
    }
    return { done: true, value: undefined };
  }
}
