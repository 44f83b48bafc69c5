import assert from "node:assert/strict";
import { test } from "node:test";
import type { RangeRequest } from "./model.ts";
import { resolveRange } from "./ranges.ts";
import { is } from "./store.contract.ts";

const satisfiable: [RangeRequest | undefined, size: number, offset: number, length: number][] = [
  [undefined, 10, 0, 10],
  [undefined, 0, 0, 0],
  [{}, 10, 0, 10],
  [{}, 0, 0, 0],
  [{ offset: 0 }, 10, 0, 10],
  [{ offset: 9 }, 10, 9, 1],
  [{ length: 3 }, 10, 0, 3],
  [{ length: 30 }, 10, 0, 10],
  [{ offset: 2, length: 3 }, 10, 2, 3],
  [{ offset: 8, length: 30 }, 10, 8, 2],
  [{ suffix: 3 }, 10, 7, 3],
  [{ suffix: 30 }, 10, 0, 10],
];
for (const [request, size, offset, length] of satisfiable) {
  test(`${JSON.stringify(request)} of ${size} octets is ${length} from ${offset}`, () => {
    assert.deepEqual(resolveRange(request, size), { offset, length });
  });
}

const unsatisfiable: [RangeRequest, size: number][] = [
  [{ offset: 10 }, 10],
  [{ offset: 11 }, 10],
  [{ length: 0 }, 10],
  [{ offset: 2, length: 0 }, 10],
  [{ offset: 10, length: 3 }, 10],
  [{ suffix: 0 }, 10],
  [{ offset: 0 }, 0],
  [{ length: 1 }, 0],
  [{ suffix: 1 }, 0],
  [{ offset: Infinity }, 10],
  [{ length: Infinity }, 10],
  [{ offset: 2 ** 64 }, 10],
  [{ suffix: 2 ** 64 }, 10],
  [{ offset: -1 }, 10],
  [{ offset: 1.5 }, 10],
  [{ suffix: NaN }, 10],
];
for (const [request, size] of unsatisfiable) {
  test(`${JSON.stringify(request)} of ${size} octets cannot be satisfied`, () => {
    assert.throws(() => resolveRange(request, size), is("bad-range"));
  });
}
