/** Bodies on their way out: whoever reads one to its end, fails at it or leaves it, has closed it. */
import type { Body } from "./model.ts";

/** Works also for a body that was never begun, as a generator's `finally` does not. */
export function closing(body: Body, close: () => Promise<void>): AsyncIterableIterator<Uint8Array> {
  const octets = body[Symbol.asyncIterator]();
  let closed: Promise<void> | null = null;
  const end = () => (closed ??= close());
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next(...room: [] | [unknown]) {
      let step: IteratorResult<Uint8Array>;
      try {
        step = await octets.next(...room);
      } catch (error) {
        await end();
        throw error;
      }
      if (step.done === true) await end();
      return step;
    },
    async return() {
      try {
        await octets.return?.();
      } finally {
        await end();
      }
      return { done: true, value: undefined };
    },
  };
}

/** Tells whoever sends a body that it is not wanted. */
export async function leave(body: Body | Uint8Array): Promise<void> {
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.();
}
