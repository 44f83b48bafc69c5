import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, integer, text } from "./columns.ts";
import { mustChangeOne, statement } from "./statement.ts";
import { placeBytes, WriteRequests } from "./write-requests.ts";

const add = statement({
  sql: "INSERT INTO things (name, body) VALUES (:name, :body)",
  takes: { name: text, body: bytes },
});
const count = statement({ sql: "UPDATE counts SET n = :n", takes: { n: integer } });

test("writes that are asked for together go in one message, in their order", () => {
  const requests = new WriteRequests();
  requests.add(1, [count({ n: 5 }), count({ n: 6 })]);
  requests.add(2, [mustChangeOne(count({ n: 7 }))]);
  assert.deepEqual([...requests.addAll(3, [count({ n: 8 })])], []);
  assert.equal(requests.size, 3);
  const { ids, ends, steps } = requests.take();
  assert.deepEqual({ ids, ends }, { ids: [1, 2, 3], ends: [6, 9, 12] });
  assert.deepEqual(steps, [0, null, 5, 0, null, 6, 0, 1, 7, 0, null, 8]);
  assert.equal(requests.size, 0);
});

test("a statement is told once, and goes by its number from then on", () => {
  const requests = new WriteRequests();
  requests.add(1, [count({ n: 5 }), count({ n: 6 })]);
  assert.deepEqual(
    requests.take().news.map(({ sql, takes }) => [sql, takes]),
    [["UPDATE counts SET n = ?1", 1]],
  );
  requests.add(2, [count({ n: 7 })]);
  assert.deepEqual(requests.take().news, []);
});

test("steps that cannot be made leave nothing in the next message but their statements", () => {
  const requests = new WriteRequests();
  function* broken() {
    yield count({ n: 1 });
    throw new Error("no more steps");
  }
  assert.throws(() => [...requests.addAll(1, broken())], /no more steps/);
  assert.equal(requests.size, 0);
  requests.add(2, [count({ n: 2 })]);
  const { news, ids, steps } = requests.take();
  assert.deepEqual([news.length, ids, steps], [1, [2], [0, null, 2]]);
});

test("bytes travel in one buffer without the rest of their own, and find their places again", () => {
  const pool = new Uint8Array(65_536).fill(7);
  const bodies = [pool.subarray(0, 16), new Uint8Array(0), new Uint8Array(8).fill(9)];
  const requests = new WriteRequests();
  bodies.forEach((body, i) => requests.add(i, [add({ name: `n${i}`, body })]));
  const message = requests.take();
  assert.equal(message.bytes.buffer.byteLength, 24);
  assert.deepEqual(
    message.steps.filter((one) => one instanceof Uint8Array),
    [],
  );
  placeBytes(message.steps, message);
  assert.deepEqual(
    message.steps,
    bodies.flatMap((body, i) => [0, null, `n${i}`, body]),
  );
});

test("very many steps go in several messages behind what waits, of which the last is known", () => {
  const steps = Array.from({ length: 20_000 }, (_, n) => count({ n }));
  const requests = new WriteRequests();
  requests.add(2, [count({ n: 1 })]);
  const [before, ...parts] = [...requests.addAll(3, steps)];
  assert.deepEqual([before?.part, before?.ids], ["all", [2]]);
  assert.deepEqual(
    parts.map(({ part, ids }) => [part, ...ids]),
    [
      ["more follow", 3],
      ["more follow", 3],
      ["more follow", 3],
      ["last", 3],
    ],
  );
  const values = parts.flatMap((part) => part.steps).filter((_, i) => i % 3 === 2);
  assert.deepEqual(
    values,
    steps.map((_, n) => n),
  );
});
