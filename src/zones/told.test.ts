import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import type { ChangedNames } from "./listener.ts";
import { Told } from "./told.ts";
import type { Zone } from "./zone.ts";

const zone = (id: string, serial: number, name = `${id}.test`) => ({ id, serial, name }) as Zone;
const names: ChangedNames = new Map();

suite("the listeners", () => {
  let heard: string[];
  let told: Told;
  beforeEach(() => {
    heard = [];
    told = new Told({
      changed: ({ id, serial }) => heard.push(`${id} ${serial}`),
      removed: ({ id }) => heard.push(`${id} gone`),
    });
    told.begin([zone("a", 10)]);
  });

  test("hear of a change that follows what they have", () => {
    assert.ok(told.changed(zone("a", 12), names, 10));
    assert.ok(told.changed(zone("b", 5), names, 0));
    assert.deepEqual(heard, ["a 12", "b 5"]);
  });

  test("do not hear of a change before those that it was made on", () => {
    assert.equal(told.changed(zone("a", 14), names, 12), false);
    assert.equal(told.changed(zone("b", 6), names, 5), false, "a zone that they do not have");
    assert.deepEqual(heard, []);
    assert.ok(told.changed(zone("a", 14), names, 10), "with all that lies between");
    assert.deepEqual(heard, ["a 14"]);
  });

  test("hear nothing twice, and nothing old", () => {
    assert.ok(told.changed(zone("a", 10), names, 8));
    assert.ok(told.changed(zone("a", 9), names, 0));
    assert.deepEqual(heard, []);
  });

  test("hear no more of a zone that is gone", () => {
    told.removed("a");
    told.removed("a");
    told.removed("unknown");
    assert.ok(told.changed(zone("a", 12), names, 10));
    assert.ok(told.changed(zone("unknown", 1), names, 0));
    told.forgetGone();
    assert.ok(told.knows("a", 99));
    assert.deepEqual(heard, ["a gone"]);
  });

  test("hear that a zone is gone before another has its name", () => {
    assert.ok(told.changed(zone("b", 5, "a.test"), names, 0));
    assert.ok(told.changed(zone("a", 12), names, 10));
    told.removed("a");
    assert.deepEqual(heard, ["a gone", "b 5"]);
  });

  test("keep what they have when another begins later", () => {
    told.changed(zone("a", 12), names, 10);
    told.begin([zone("a", 11), zone("c", 3)]);
    assert.equal(told.serialOf("a"), 12);
    assert.equal(told.serialOf("c"), 3);
  });
});
