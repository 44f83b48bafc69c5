import assert from "node:assert/strict";
import { test } from "node:test";
import { Log, type LogFormat, type LogLevel } from "./log.ts";

function capture(format: LogFormat, level: LogLevel = "info") {
  let written = "";
  const log = new Log({ format, level, now: () => 0, write: (lines) => (written += lines) });
  return { log, lines: () => (log.flush(), written.trimEnd().split("\n")) };
}

test("a JSON line carries time, level, event and the fields of its log", () => {
  const { log, lines } = capture("json");
  log.with({ door: "api" }).info("request", { request_id: "r1", status: 200 });
  assert.deepEqual(lines(), [
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","event":"request","door":"api","request_id":"r1","status":200}',
  ]);
});

test("a field named like a secret never shows its value, in either format", () => {
  for (const format of ["json", "pretty"] as const) {
    const { log, lines } = capture(format);
    log.info("x", {
      api_key: "hush1",
      password: "hush2",
      Authorization: "hush3",
      secret_access_key: "hush4",
    });
    assert.doesNotMatch(lines().join(), /hush/);
    assert.match(lines().join(), /\[hidden\]/);
  }
});

test("lines below the level are left out", () => {
  const { log, lines } = capture("json", "warn");
  log.debug("a");
  log.info("b");
  log.warn("c");
  assert.equal(lines().length, 1);
});

test("an error is told with its causes, and a line break cannot forge a line", () => {
  const { log, lines } = capture("json");
  log.error("failed", { cause: new Error("outer\n{}", { cause: new Error("inner") }) });
  assert.equal(lines().length, 1);
  const { cause } = JSON.parse(lines()[0]!) as {
    cause: { message: string; cause: { message: string } };
  };
  assert.equal(cause.message, "outer\n{}");
  assert.equal(cause.cause.message, "inner");
});

test("pretty lines cannot be forged either", () => {
  const { log, lines } = capture("pretty");
  log.info("request", { path: "/a\n12:00:00.000 info forged" });
  assert.equal(lines().length, 1);
});
