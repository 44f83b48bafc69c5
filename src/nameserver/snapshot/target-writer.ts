/** What is known of names outside, where query threads find it. */
import { encodeName } from "#dns";
import {
  ENTRY,
  SEGMENT_BITS,
  SEGMENT_MASK,
  TARGET,
  TARGET_FAILED,
  TARGET_STALE,
  wordsFor,
} from "./layout.ts";
import type { SharedMemory } from "./memory.ts";
import { hasKey, writeEntry } from "./name-block.ts";
import { NameCursor } from "./name-cursor.ts";
import { type MapKey, SharedMap } from "./shared-map.ts";
import { targetHash, targetKey } from "./target-key.ts";
import type { TargetEntry, TargetStore } from "../outside/target-store.ts";

/** An entry, a page of each kind, and the directory with its double; a hundred thousand names are known at most. */
const TARGET_ROOM = 256 * 1024;

export class TargetWriter implements TargetStore {
  readonly #memory: SharedMemory;
  readonly #publish: () => void;
  readonly #map: SharedMap;
  readonly #cursor: NameCursor;

  constructor(memory: SharedMemory, publish: () => void) {
    this.#memory = memory;
    this.#publish = publish;
    this.#map = new SharedMap(memory, 0);
    this.#cursor = new NameCursor(memory.seed);
  }

  finish(): number {
    return this.#map.finish();
  }

  publish(name: string, type: 1 | 28, target: TargetEntry): void {
    const { key, octets } = this.#keyOf(name, type);
    const { addresses } = target;
    this.#memory.ensure(TARGET_ROOM);
    const body = TARGET.addresses + wordsFor(addresses.length);
    const entry = writeEntry(this.#memory, { flags: 0, own: 0, key: octets, body, sets: null });
    const at = ENTRY.key / 4 + wordsFor(octets.length);
    const state =
      (target.kind === "failure" ? TARGET_FAILED : 0) |
      (target.stale ? TARGET_STALE : 0) |
      (target.ede === null ? 0 : target.ede + 1);
    this.#memory.set(entry, at + TARGET.asked, 0);
    this.#memory.set(entry, at + TARGET.expires, Math.floor(target.expiresAt / 1000) | 0);
    this.#memory.set(entry, at + TARGET.state, state);
    this.#memory.set(entry, at + TARGET.count, addresses.length / (type === 1 ? 4 : 16));
    const bytes = this.#memory.bytes[entry >>> SEGMENT_BITS]!;
    bytes.set(addresses, (entry & SEGMENT_MASK) + 4 * (at + TARGET.addresses));
    this.#retire(this.#map.put(key, entry));
    this.#publish();
  }

  drop(name: string, type: 1 | 28): void {
    const gone = this.#map.remove(this.#keyOf(name, type).key);
    if (gone === 0) return;
    this.#retire(gone);
    this.#publish();
  }

  wasAsked(name: string, type: 1 | 28): boolean {
    const { key, octets } = this.#keyOf(name, type);
    const entry = this.#map.get(key);
    if (entry === 0) return false;
    const word = ENTRY.key / 4 + wordsFor(octets.length) + TARGET.asked;
    const asked = this.#memory.get(entry, word) !== 0;
    this.#memory.set(entry, word, 0);
    return asked;
  }

  #retire(entry: number): void {
    if (entry !== 0) this.#memory.retire(entry);
  }

  #keyOf(name: string, type: 1 | 28): { key: MapKey; octets: Uint8Array } {
    const wire = encodeName(name);
    this.#cursor.read(wire, 0, wire.length);
    const octets = targetKey(this.#cursor, type, new Uint8Array(wire.length + 1));
    const is = (entry: number) => hasKey(this.#memory, entry, octets, 0, octets.length);
    return { key: { hash: targetHash(this.#cursor.hashes[0]!, type), is }, octets };
  }
}
