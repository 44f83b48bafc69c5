/** How the contracts of the bucket look at failures and at octets. */
import assert from "node:assert/strict";

/** Waits for a rejection of exactly this class and message. */
export async function rejects(
  promise: Promise<unknown>,
  type: typeof Error | typeof TypeError | typeof RangeError,
  message: string,
): Promise<void> {
  const error = await promise.then(
    () => assert.fail(`not rejected: ${message}`),
    (reason: unknown) => reason,
  );
  assertError(error, type, message);
}

/** The same for what is thrown at once. */
export function throws(
  act: () => unknown,
  type: typeof Error | typeof TypeError | typeof RangeError,
  message: string | RegExp,
): void {
  let error: unknown;
  try {
    act();
  } catch (thrown) {
    error = thrown;
  }
  assertError(error, type, message);
}

function assertError(error: unknown, type: typeof Error, message: string | RegExp): void {
  assert.ok(error instanceof Error, String(error));
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  assert.equal(error.constructor, type);
  assert.equal(error.name, type.name);
  assert.ok(!("code" in error));
}

/** Arguments that TypeScript would refuse. */
export function wrong(value: unknown): never {
  return value as never;
}

/** A method without its object. */
export function lost(object: object, method: string): (...args: unknown[]) => unknown {
  return (object as Record<string, (...args: unknown[]) => unknown>)[method]!;
}

export const MIB = 1024 * 1024;

/** Octets that differ from place to place, so that a wrong range shows. */
export function octets(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    made[i] = state >>> 16;
  }
  return made;
}

export function streamOf(...chunks: unknown[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else if (next instanceof Error) controller.error(next);
      else controller.enqueue(next as Uint8Array);
    },
  });
}
