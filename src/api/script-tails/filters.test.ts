import assert from "node:assert/strict";
import { test } from "node:test";
import type { TailEvent } from "#scripts";
import { shows, tailInput } from "./filters.ts";

const event: TailEvent = {
  scriptName: "s",
  entrypoint: null,
  outcome: "ok",
  eventTimestamp: 1,
  event: {
    request: {
      url: "http://a/",
      method: "GET",
      headers: { a: "bcd", "cf-connecting-ip": "192.0.2.7" },
    },
  },
  logs: [{ level: "log", timestamp: 1, message: ["hello", { deep: "water" }] }],
  exceptions: [],
  truncated: false,
  cpuTime: 1,
  wallTime: 1,
};
const cron: TailEvent = { ...event, event: { cron: "* * * * *", scheduledTime: 1 }, logs: [] };

const passes = (filter: object, of = event, random = 0.5) =>
  shows(of, tailInput.parse({ filters: [filter] }).filters, "192.0.2.7", () => random);

test("an event is shown when its outcome, method, header, address and text are asked for", () => {
  assert.ok(passes({ outcome: ["exception", "ok"] }) && !passes({ outcome: ["exception"] }));
  assert.ok(passes({ method: ["post", "get"] }) && !passes({ method: ["POST"] }));
  assert.ok(passes({ header: { key: "A" } }) && !passes({ header: { key: "b" } }));
  assert.ok(passes({ header: { key: "a", query: "bc" } }));
  assert.ok(!passes({ header: { key: "a", query: "x" } }));
  assert.ok(passes({ client_ip: ["self"] }) && passes({ client_ip: ["::1", "192.0.2.7"] }));
  assert.ok(!passes({ client_ip: ["192.0.2.8"] }));
  assert.ok(passes({ query: "ell" }) && passes({ query: "water" }) && !passes({ query: "fire" }));
});

test("what filters ask of requests, a cron trigger does not have", () => {
  for (const filter of [
    { method: ["GET"] },
    { header: { key: "a" } },
    { client_ip: ["self"] },
    { query: "h" },
  ]) {
    assert.ok(!passes(filter, cron), JSON.stringify(filter));
  }
  assert.ok(passes({ outcome: ["ok"] }, cron));
});

test("a sample is as large as asked for", () => {
  assert.ok(
    passes({ sampling_rate: 0.5 }, event, 0.49) && !passes({ sampling_rate: 0.5 }, event, 0.5),
  );
});

test("all filters must hold, and none are no filter", () => {
  const filters = tailInput.parse({
    filters: [{ method: ["GET"] }, { outcome: ["canceled"] }],
  }).filters;
  assert.ok(!shows(event, filters, "", () => 0));
  assert.ok(shows(event, tailInput.parse({}).filters, "", () => 0));
  assert.deepEqual(tailInput.parse(undefined), { filters: [] });
});

test("filters that are not known are refused", () => {
  for (const filters of [
    [{ colour: "red" }],
    [{}],
    [{ sampling_rate: 2 }],
    Array.from({ length: 21 }, () => ({ query: "" })),
  ]) {
    assert.equal(tailInput.safeParse({ filters }).success, false);
  }
});
