/** What may be kept of things that change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Changes, CHANGES_OCTETS } from "./changes.ts";

const [ONE, OTHER] = [1, 2];

test("what is read stands until a change begins, not only until it is made", () => {
  const changes = new Changes();
  const quiet = changes.quiet(ONE)!;
  assert.ok(changes.stands(ONE, quiet));
  changes.begin(ONE);
  assert.ok(!changes.stands(ONE, quiet));
  changes.end(ONE);
  assert.ok(!changes.stands(ONE, quiet));
  assert.ok(changes.stands(ONE, changes.quiet(ONE)!));
});

test("while one of several changes is under way nothing is to be kept", () => {
  const changes = new Changes();
  changes.begin(ONE);
  changes.begin(ONE);
  assert.equal(changes.quiet(ONE), null);
  changes.end(ONE);
  assert.equal(changes.quiet(ONE), null);
  changes.end(ONE);
  assert.notEqual(changes.quiet(ONE), null);
});

test("a change of one thing leaves another, and is seen by all who share the memory", () => {
  const shared = new SharedArrayBuffer(CHANGES_OCTETS);
  const [here, there] = [new Changes(shared), new Changes(shared)];
  const [one, other] = [there.quiet(ONE)!, there.quiet(OTHER)!];
  here.begin(ONE);
  assert.deepEqual([there.stands(ONE, one), there.stands(OTHER, other)], [false, true]);
});
