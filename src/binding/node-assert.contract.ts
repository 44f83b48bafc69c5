/** Stands for `node:assert/strict` inside workerd, whose own compares octets one by one, for seconds. */
import { strict } from "node:assert";
import { Buffer } from "node:buffer";

function deepEqual(actual: unknown, expected: unknown, message?: string): void {
  const isSame =
    actual instanceof Uint8Array &&
    expected instanceof Uint8Array &&
    Object.getPrototypeOf(actual) === Object.getPrototypeOf(expected) &&
    Buffer.compare(Buffer.from(actual), Buffer.from(expected)) === 0;
  if (!isSame) strict.deepEqual(actual, expected, message as string);
}

export default Object.assign((value: unknown) => strict.ok(value), strict, { deepEqual });
