/** Stacks of traced scripts, told in places of their sources where a version has brought its source maps. */
import { sourceStacks } from "#kit/source-stacks.ts";
import type { ScriptModule } from "../model.ts";
import type { TailEvent } from "./types.ts";

/** A script whose events are told. */
export interface Traced {
  readonly name: string;
  readonly versionId: string;
  readonly sourceMaps: readonly ScriptModule[];
}

/** One takes some 30 MiB and 70 ms to read at the next limit; few scripts are listened to at once. */
const MOST_VERSIONS = 4;
/** Of all maps of a version, without the sources that they carry. Beyond, stacks stay as they are. */
const MAX_MAPPINGS = 1024 ** 2;
/** With the sources. */
const MAX_MAP_BYTES = 8 * 1024 ** 2;
/** V8 gives ten lines unless a script asks for more. */
const MAX_STACK = 16 * 1024;

type Tell = (stack: string) => string;

export class StackMaps {
  /** By version, the one that was used last at the end. */
  readonly #versions = new Map<string, Tell>();

  /** The event with its stacks told anew. */
  tell(event: TailEvent, traced: Traced): TailEvent {
    if (traced.sourceMaps.length === 0) return event;
    const told = <T extends { readonly stack?: string }>(error: T): T =>
      error.stack === undefined || error.stack.length > MAX_STACK
        ? error
        : { ...error, stack: this.#of(traced)(error.stack) };
    return {
      ...event,
      exceptions: event.exceptions.map(told),
      logs: event.logs.map((log) =>
        log.errorInfo === undefined
          ? log
          : { ...log, errorInfo: log.errorInfo.map((error) => error && told(error)) },
      ),
    };
  }

  /** Maps are read when a stack first asks for them. */
  #of({ versionId, sourceMaps }: Traced): Tell {
    const tell = this.#versions.get(versionId) ?? tellerOf(sourceMaps);
    this.#versions.delete(versionId);
    this.#versions.set(versionId, tell);
    if (this.#versions.size > MOST_VERSIONS) {
      const [oldest] = this.#versions.keys();
      this.#versions.delete(oldest!);
    }
    return tell;
  }
}

/** `index.js.map` is the map of `index.js`. */
function tellerOf(sourceMaps: readonly ScriptModule[]): Tell {
  const bytes = sourceMaps.reduce((sum, { content }) => sum + content.length, 0);
  const tellers: Tell[] = [];
  let room = bytes > MAX_MAP_BYTES ? 0 : MAX_MAPPINGS;
  for (const { name, content } of sourceMaps) {
    if (room === 0) break;
    try {
      const { sourcesContent: _, ...map } = JSON.parse(Buffer.from(content).toString());
      room = Math.max(0, room - String(map.mappings).length);
      if (room > 0) tellers.push(sourceStacks(JSON.stringify(map), name.replace(/\.map$/, "")));
    } catch {
      // No source map: a stranger may call anything one.
    }
  }
  return (stack) => tellers.reduce((told, tell) => tell(told), stack);
}
