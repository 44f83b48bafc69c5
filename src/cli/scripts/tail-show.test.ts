/** Events of a script in words, and the filters that choose them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { styles } from "../style.ts";
import { filtersOf } from "./tail.ts";
import { showEvent, type TraceEvent } from "./tail-show.ts";

const plain = styles({ isTTY: false }, {});
const event: TraceEvent = {
  outcome: "ok",
  scriptName: "shop",
  eventTimestamp: Date.UTC(2026, 10, 15, 8, 30, 2),
  event: {
    request: { method: "GET", url: "https://a.example/x" },
    response: { status: 200 },
  },
  logs: [],
  exceptions: [],
};

test("a request is one line", () => {
  assert.equal(showEvent(event, plain), "08:30:02 GET https://a.example/x 200 ok");
});

test("logs and exceptions stand below, with their stacks", () => {
  const shown = showEvent(
    {
      ...event,
      outcome: "exception",
      logs: [
        { level: "log", message: ["hello", { a: 1 }] },
        { level: "warn", message: ["two\nlines"] },
      ],
      exceptions: [
        { name: "Error", message: "no", stack: "    at fetch (index.js:1:2)" },
        { name: "TypeError", message: "whole", stack: "TypeError: whole\n    at x" },
      ],
    },
    plain,
  );
  assert.equal(
    shown,
    `08:30:02 GET https://a.example/x 200 threw an exception
  hello { a: 1 }
  warn two
  lines
  Error: no
      at fetch (index.js:1:2)
  TypeError: whole
      at x`,
  );
});

test("a cron trigger, a queue and a word of the server's own have their subject", () => {
  const cron = { ...event, event: { cron: "* * * * *" }, eventTimestamp: null };
  assert.equal(showEvent(cron, plain), "cron * * * * * ok");
  const queue = { ...event, event: { queue: "q" }, eventTimestamp: null };
  assert.equal(showEvent(queue, plain), "queue q ok");
  const word = { ...event, outcome: "unknown", event: { type: "overload", message: "too fast" } };
  assert.equal(showEvent(word, plain), "08:30:02 too fast ended without a word");
});

test("what a script logs cannot steer the terminal", () => {
  const shown = showEvent({ ...event, logs: [{ level: "log", message: ["\u001B[2J"] }] }, plain);
  assert.equal(shown.includes("\u001B"), false);
});

test("filters are those that the server knows", () => {
  const none = { status: undefined, method: [], search: undefined };
  assert.deepEqual(filtersOf(none), []);
  assert.deepEqual(filtersOf({ status: "error", method: ["get", "PUT"], search: "x" }), [
    { outcome: ["exception", "exceededCpu", "exceededMemory", "unknown"] },
    { method: ["GET", "PUT"] },
    { query: "x" },
  ]);
});
