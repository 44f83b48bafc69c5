import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, suite, test } from "node:test";
import { Deadlines } from "./deadlines.ts";

const MS = 100;

suite("deadlines", () => {
  let now = 0;
  let late: string[] = [];
  const waiting = (name: string) => ({ late: () => void late.push(name) });
  const pass = (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
  };

  beforeEach(() => {
    [now, late] = [0, []];
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => now);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  test("each is told when its own time is over, and once", () => {
    const deadlines = new Deadlines(MS);
    deadlines.add(waiting("first"));
    pass(60);
    deadlines.add(waiting("second"));
    pass(39);
    assert.deepEqual(late, []);
    pass(1);
    assert.deepEqual(late, ["first"]);
    pass(59);
    assert.deepEqual(late, ["first"]);
    pass(1);
    assert.deepEqual(late, ["first", "second"]);
    pass(10 * MS);
    assert.deepEqual(late, ["first", "second"]);
  });

  test("what has happened is not late, and others still are", () => {
    const deadlines = new Deadlines(MS);
    const waits = ["first", "second", "third", "fourth"].map((name) =>
      deadlines.add(waiting(name)),
    );
    pass(50);
    for (const place of [1, 0, 3]) deadlines.end(waits[place]!);
    deadlines.add(waiting("fifth"));
    deadlines.end(waits[0]!); // Once more says nothing.
    pass(50);
    assert.deepEqual(late, ["third"]);
    pass(50);
    assert.deepEqual(late, ["third", "fifth"]);
  });

  test("what is added while others are told has its time from then on", () => {
    const deadlines = new Deadlines(MS);
    const again = {
      late: () => {
        late.push("again");
        if (late.length < 3) deadlines.add(again);
      },
    };
    deadlines.add(again);
    pass(MS);
    assert.deepEqual(late, ["again"]);
    pass(99);
    assert.deepEqual(late, ["again"]);
    pass(1);
    pass(MS);
    assert.deepEqual(late, ["again", "again", "again"]);
  });

  test("what is added while others are told puts off none that wait", () => {
    const deadlines = new Deadlines(MS);
    deadlines.add({ late: () => void deadlines.add(waiting("third")) });
    pass(10);
    deadlines.add(waiting("second"));
    pass(90);
    pass(10);
    assert.deepEqual(late, ["second"]);
    pass(90);
    assert.deepEqual(late, ["second", "third"]);
  });

  test("after a quiet time the next is told in its time", () => {
    const deadlines = new Deadlines(MS);
    deadlines.end(deadlines.add(waiting("first")));
    pass(10 * MS);
    deadlines.add(waiting("second"));
    pass(MS);
    assert.deepEqual(late, ["second"]);
  });
});
