import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, integer, text } from "./columns.ts";
import { mustChangeOne, statement } from "./statement.ts";
import { WriteRequests } from "./write-requests.ts";

const add = statement({
  sql: "INSERT INTO things (name, body) VALUES (:name, :body)",
  takes: { name: text, body: bytes },
});
const count = statement({ sql: "UPDATE counts SET n = :n", takes: { n: integer } });

test("a statement is told once, and goes by its number from then on", () => {
  const requests = new WriteRequests();
  const first = requests.whole(1, [mustChangeOne(count({ n: 5 })), count({ n: 6 })]);
  assert.deepEqual(
    first.news.map(({ number, takes }) => [number, takes]),
    [[0, 1]],
  );
  assert.deepEqual(first.steps, [0, 1, 5, 0, null, 6]);
  const second = requests.whole(2, [count({ n: 7 })]);
  assert.deepEqual([second.news, second.steps], [[], [0, null, 7]]);
});

test("a statement whose message was never made is told by the next", () => {
  const requests = new WriteRequests();
  function* broken() {
    yield count({ n: 1 });
    throw new Error("no more steps");
  }
  assert.throws(() => requests.whole(1, broken()), /no more steps/);
  assert.equal(requests.whole(2, [count({ n: 2 })]).news.length, 1);
});

test("bytes from a shared buffer travel without the rest of it", () => {
  const pool = new Uint8Array(65_536).fill(7);
  const bodies = [pool.subarray(0, 16), pool.subarray(100, 400), new Uint8Array(8).fill(9)];
  const steps = bodies.map((body, i) => add({ name: `n${i}`, body }));
  const sent = new WriteRequests().whole(1, steps).steps.filter((one) => one instanceof Uint8Array);
  assert.deepEqual(sent, bodies);
  assert.equal(new Set(sent.map(({ buffer }) => buffer)).size, 2);
  assert.equal(sent[0]!.buffer.byteLength, 316);
});

test("very many steps go in several messages, of which the last is known", () => {
  const steps = Array.from({ length: 20_000 }, (_, n) => count({ n }));
  const parts = [...new WriteRequests().parts(3, steps)];
  assert.deepEqual(
    parts.map(({ part }) => part),
    ["more follow", "more follow", "more follow", "last"],
  );
  const values = parts.flatMap((part) => part.steps).filter((_, i) => i % 3 === 2);
  assert.deepEqual(
    values,
    steps.map((_, n) => n),
  );
  const [only] = new WriteRequests().parts(4, steps.slice(0, 3));
  assert.equal(only?.part, "all");
});
