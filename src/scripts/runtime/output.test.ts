import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Log } from "#kit/log.ts";
import { ScriptOutput } from "./output.ts";

async function heard(chunks: readonly (string | Buffer)[]) {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => {
    for (const line of text.trim().split("\n")) lines.push(JSON.parse(line));
  };
  const log = new Log({ format: "json", level: "debug", now: () => 0, write });
  const output = new ScriptOutput(log, () => 0);
  const stream = new PassThrough();
  output.read(stream);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await once(stream, "end");
  log.flush();
  return { lines, complaints: output.complaints, reason: output.reason };
}

test("lines come whole, however the pipe cuts them", async () => {
  const line = Buffer.from('{"timestamp":1,"level":"log","message":"hé\\nllo"}\n');
  const { lines } = await heard([line.subarray(0, 40), line.subarray(40)]);
  assert.deepEqual(
    lines.map(({ level, stream, said }) => ({ level, stream, said })),
    [{ level: "info", stream: "console", said: "hé\nllo" }],
  );
});

test("a line that is too long to be kept whole is cut, and is still the script's", async () => {
  const line = `{"timestamp":1,"level":"error","message":"out of memory ${"x".repeat(100_000)}"}\n`;
  const cuts = [0, 20, 9_000, 30_000, 90_000, line.length];
  const chunks = cuts.slice(1).map((end, i) => line.slice(cuts[i], end));
  const next = '{"timestamp":1,"level":"log","message":"next"}\n';
  const { lines, complaints } = await heard([...chunks, next]);
  assert.equal(complaints, "");
  assert.deepEqual(
    lines.map(({ level, stream, said }) => [level, stream, String(said).slice(0, 15)]),
    [
      ["warn", "console", "out of memory x"],
      ["info", "console", "next"],
    ],
  );
});

test("what workerd says of itself is kept without what only its authors know", async () => {
  const message = "service main: Uncaught Error: x\\n  at index.js:1:7\\nstack: /opt/workerd@1234";
  const { complaints } = await heard([
    `{"timestamp":"1","level":"error","source":"entry.rs:169","message":"${message}"}\n`,
    "a plain line",
  ]);
  assert.equal(complaints, "Uncaught Error: x\n  at index.js:1:7\na plain line");
});

test("what only its authors can read is logged whole, and is no reason to tell", async () => {
  const said = (message: string) => `${JSON.stringify({ level: "error", source: "x", message })}\n`;
  const inner = "Uncaught exception: workerd/jsg/modules.h:766: failed: expected a; reference = b";
  const fatal = "V8 fatal error; message = : allocation failed: JavaScript heap out of memory";
  const { lines, reason, complaints } = await heard([said(inner), `${fatal}\n`]);
  assert.deepEqual(
    lines.map((line) => line["said"]),
    [inner, fatal],
  );
  assert.equal(reason, "");
  assert.match(complaints, /heap out of memory/);
  const mixed = await heard([
    said(inner),
    said("service main: Uncaught TypeError: no N7workerd3api15ExportedHandlerE\n  at a.js:1:2"),
    said("No event handlers were registered. This script does nothing."),
    said('Socket "http" refers to service "main" with a named entrypoint "a", but has none.'),
  ]);
  assert.equal(mixed.reason, "Uncaught TypeError: no ExportedHandler\n  at a.js:1:2");
});

test("any octets are taken, a flood of them bounded", async () => {
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256));
  const flood = Array.from({ length: 500 }, () => noise);
  const { lines, complaints } = await heard([...flood, "null\n5\n[]\n{}\n", "x".repeat(100_000)]);
  assert.ok(lines.length <= 201);
  assert.ok(JSON.stringify(lines).length < 201 * 30_000);
  assert.ok(complaints.length <= 16 * 1024);
});
