import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { SlowBodies } from "./slow-bodies.ts";

const SECONDS = 10;

function request(headers: Record<string, string> = { "content-length": "1000000000" }) {
  const fake = { headers, complete: false, destroyed: false, socket: { bytesRead: 500 } };
  return Object.assign(new EventEmitter(), fake) as EventEmitter & typeof fake & IncomingMessage;
}

test("a body that keeps moving has all the time it needs", () => {
  const bodies = new SlowBodies(SECONDS);
  const moving = request();
  bodies.watch(moving, 0);
  for (let second = 1; second < 3_600; second++) {
    moving.socket.bytesRead += 9 * 1024;
    assert.deepEqual(bodies.take(second * 1000), [], `after ${second} s`);
  }
});

test("a body that dribbles is out of time soon after its seconds", () => {
  const bodies = new SlowBodies(SECONDS);
  const dribbling = request({ "transfer-encoding": "chunked" });
  bodies.watch(dribbling, 0);
  dribbling.socket.bytesRead += 200;
  assert.deepEqual(bodies.take(SECONDS * 1000), []);
  assert.deepEqual(bodies.take((SECONDS + 1) * 1000), [dribbling]);
  assert.deepEqual(bodies.take((SECONDS + 2) * 1000), [], "each once");
});

test("a body that is there, or never comes, is not waited for", () => {
  const bodies = new SlowBodies(SECONDS);
  const [whole, gone, none] = [request(), request(), request({})];
  for (const one of [whole, gone, none]) bodies.watch(one, 0);
  whole.complete = true;
  gone.emit("close");
  assert.deepEqual(bodies.take(3_600_000), []);
});
