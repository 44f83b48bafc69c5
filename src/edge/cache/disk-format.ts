/**
 * A file of the disk store: a head, and behind it the octets of a small body. Nothing is synced to disk, for
 * a cache may forget; so after a power cut a file may hold anything, and sums tell what is whole.
 */
import { crc32 } from "node:zlib";
import type { FileBody, StoredHead } from "./stored.ts";

/** Told at a URL whose responses vary: on what, and the id under which its variants are found. */
export interface VaryMark {
  readonly vary: readonly string[];
  readonly id: string;
}

export function isMark(slot: object): slot is VaryMark {
  return "id" in slot;
}

export type FileContent =
  | { readonly mark: VaryMark }
  | { readonly head: StoredHead; readonly body: Uint8Array | FileBody };

/** As the text of the head has it. */
type Told =
  | { readonly mark: VaryMark }
  | { readonly head: StoredHead; readonly body: FileBody | { readonly sum: number } };

/** With the version of the format: another one is not read. */
const MAGIC = 0x53_56_43_31;
const PREFIX_OCTETS = 12;

/** Each has a sum of its own, and is checked before it is sent. */
export const PIECE_OCTETS = 256 * 1024;

/** `at` is what it is kept under, for the file's name is only a hash. */
export function encodeFile(at: string, content: FileContent): Buffer {
  const inline = "head" in content && content.body instanceof Uint8Array ? content.body : null;
  const text = Buffer.from(JSON.stringify({ at, ...toldOf(content) }));
  const prefix = Buffer.alloc(PREFIX_OCTETS);
  prefix.writeUInt32BE(MAGIC, 0);
  prefix.writeUInt32BE(text.length, 4);
  prefix.writeUInt32BE(crc32(text), 8);
  return Buffer.concat(inline === null ? [prefix, text] : [prefix, text, inline]);
}

function toldOf(content: FileContent): Told {
  if ("mark" in content) return { mark: content.mark };
  const { head, body } = content;
  return { head, body: body instanceof Uint8Array ? { sum: crc32(body) } : body };
}

/** Null when it is not whole, or is kept under something else. */
export function decodeFile(at: string, bytes: Buffer): FileContent | null {
  if (bytes.length < PREFIX_OCTETS || bytes.readUInt32BE(0) !== MAGIC) return null;
  const end = PREFIX_OCTETS + bytes.readUInt32BE(4);
  const text = bytes.subarray(PREFIX_OCTETS, end);
  if (end > bytes.length || crc32(text) !== bytes.readUInt32BE(8)) return null;
  const told = JSON.parse(text.toString()) as { readonly at: string } & Told;
  if (told.at !== at) return null;
  if ("mark" in told) return { mark: told.mark };
  const { head, body } = told;
  if ("file" in body) return { head, body };
  const inline = bytes.subarray(end);
  return crc32(inline) === body.sum ? { head, body: inline } : null;
}
