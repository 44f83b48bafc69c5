/**
 * Responses in files. A file's name follows from what it is kept under, so the folder itself is the index:
 * the threads of a process share it without a word, each opens what it looks for. A file comes to be under
 * another name and is renamed when it is whole. What must go, for the bound or a purge, goes through the one
 * ledger (`disk-ledger.ts`).
 */
import { hash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { randomHex } from "#kit/random.ts";
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
    await using handle = await openIfThere(join(this.#folder, name));
    if (handle === null) return null;
    const content = decodeFile(at, await handle.readFile());
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
  async openBody(body: FileBody, span: Span): Promise<AsyncIterableIterator<Uint8Array> | null> {
    const handle = await openIfThere(join(this.#folder, body.file));
    return handle === null ? null : new FilePieces(handle, body, span);
  }
}

function nameOf(at: string): string {
  const digits = hash("sha256", at, "hex");
  return `${digits.slice(0, 2)}/${digits.slice(2, 32)}`;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A body that is being written; what is written can be read. */
export class BodyDraft implements AsyncDisposable {
  readonly file: string;
  readonly #handle: FileHandle;
  readonly #sums: number[] = [];
  #length = 0;

  constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.#handle = handle;
  }

  get length(): number {
    return this.#length;
  }

  async append(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      const rest = chunk.subarray(done);
      const { bytesWritten } = await this.#handle.write(rest, 0, rest.length, this.#length);
      if (bytesWritten === 0) throw new Error("nothing was written");
      this.#sum(rest.subarray(0, bytesWritten));
      this.#length += bytesWritten;
      done += bytesWritten;
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
    return readFully(this.#handle, into, at);
  }

  body(): FileBody {
    return { file: this.file, length: this.#length, sums: this.#sums };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** A span of a body, piece by piece: each is read as a whole and checked before any of it is given. */
class FilePieces implements AsyncIterableIterator<Uint8Array> {
  readonly #handle: FileHandle;
  readonly #body: FileBody;
  readonly #end: number;
  #at: number;

  constructor(handle: FileHandle, body: FileBody, { start, end }: Span) {
    this.#handle = handle;
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
      const bytes = await readFully(this.#handle, Buffer.allocUnsafeSlow(length), start);
      if (crc32(bytes) !== this.#body.sums[piece]) throw new Error("A cached body is damaged");
      const value = bytes.subarray(this.#at - start, this.#end - start);
      this.#at = start + length;
      return { done: false, value };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#at = this.#end;
    await this.#handle.close();
    return { done: true, value: undefined };
  }
}

async function readFully(handle: FileHandle, into: Buffer, at: number): Promise<Buffer> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await handle.read(into, done, into.length - done, at + done);
    if (bytesRead === 0) throw new Error("A cached body is shorter than it was");
    done += bytesRead;
  }
  return into;
}
