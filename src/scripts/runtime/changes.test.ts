/** Changes that come while a process starts, and what they leave alone. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assertQuick, msOf, until } from "../../../test/support/patience.ts";
import {
  answering,
  processesOf,
  scriptOf,
  TestRuntime,
} from "../../../test/support/script-runtime.ts";
import type { TailEvent } from "./types.ts";

/** Long enough to do something meanwhile. */
const SLOW_START = "let n = 0; for (let i = 0; i < 1e8; i++) n += i % 7;\n";
/** Until it is given up. */
const ENDLESS_START = "for (;;); export default {};";

const service = (to: string, entrypoint: string | null = null) =>
  ({ type: "service", name: "S", service: to, entrypoint }) as const;

const isStarting = (opened: TestRuntime) => until(() => processesOf(opened).length > 0);

suite("while a process starts,", () => {
  test("a script that it binds may change, and is the new one in it", async () => {
    await using opened = await TestRuntime.open();
    const parent = `${SLOW_START} export default { fetch(request, env) { return env.S.fetch(request); } }`;
    opened.put(answering("bound", '"old"'));
    opened.put(scriptOf("parent", parent, { bindings: [service("bound")] }));
    const first = opened.text("parent");
    await isStarting(opened);
    opened.put(answering("bound", '"new"'));
    assert.equal(await first, "new");
    assert.equal(await opened.text("parent"), "new");
  });

  test("a script that it binds in vain may come", async () => {
    await using opened = await TestRuntime.open();
    const parent = `${SLOW_START} export default { fetch(request, env) { return env.S.fetch(request); } }`;
    opened.put(scriptOf("parent", parent, { bindings: [service("bound")] }));
    const first = opened.text("parent");
    await isStarting(opened);
    opened.put(answering("bound", '"here"'));
    assert.equal(await first, "here");
  });

  test("a tail may be asked for, and hears all that follows", async () => {
    await using opened = await TestRuntime.open();
    opened.put(
      scriptOf("slow", `${SLOW_START} export default { fetch() { return new Response(); } }`),
    );
    const first = opened.text("slow");
    await isStarting(opened);
    const events: TailEvent[] = [];
    const tail = await opened.runtime.tail("id-slow", (event) => events.push(event));
    await first;
    const before = events.length;
    await opened.get("slow");
    await until(() => events.length > before);
    await tail[Symbol.asyncDispose]();
  });

  test("its script may be removed, and nothing stays", async () => {
    await using opened = await TestRuntime.open();
    opened.put(
      scriptOf("slow", `${SLOW_START} export default { fetch() { return new Response(); } }`),
    );
    const first = assert.rejects(opened.text("slow"), { kind: "not-found" });
    await isStarting(opened);
    opened.remove("slow");
    await first;
    await until(() => processesOf(opened).length === 0);
  });

  test("a version that does start may take the place of one that does not", async () => {
    await using opened = await TestRuntime.open({ startSeconds: 1 });
    opened.put(scriptOf("mended", ENDLESS_START));
    const first = opened.text("mended");
    await isStarting(opened);
    opened.put(answering("mended", '"good"'));
    assert.equal(await first, "good");
  });
});

test("a change that is none for the process leaves it alone", async () => {
  await using opened = await TestRuntime.open();
  const script = answering("same", '"same"');
  opened.put(script);
  await opened.text("same");
  const before = processesOf(opened);
  opened.put(script);
  assert.equal(await opened.text("same"), "same");
  assert.deepEqual(processesOf(opened), before);
  assert.match(opened.metrics.print(), /selvedge_script_starts_total 1\n/);
});

test("a script that loses an entrypoint takes nothing else from those that bind it", async () => {
  await using opened = await TestRuntime.open();
  const head = 'import { WorkerEntrypoint } from "cloudflare:workers";';
  const has = (name: string) => `${head} export class ${name} extends WorkerEntrypoint {
    word() { return "a word of ${name}"; } }
    export default { fetch() { return new Response("fine"); } }`;
  const parent = `export default { async fetch(request, env) {
    if (request.url.endsWith("/word")) return new Response(await env.S.word());
    return new Response("parent"); } }`;
  const script = scriptOf("parent", parent, { bindings: [service("bound", "Words")] });
  opened.put(scriptOf("bound", has("Words")));
  await opened.deploy(script);
  assert.equal(await opened.text("parent", "/word"), "a word of Words");
  opened.put(scriptOf("bound", has("Others")));
  assert.equal(await opened.text("parent"), "parent");
  assert.equal((await opened.get("parent", "/word")).status, 500);
  await assert.rejects(opened.runtime.check(script), {
    kind: "does-not-start",
    message: /"Words"/,
  });
  opened.put(scriptOf("bound", has("Words")));
  assert.equal(await opened.text("parent", "/word"), "a word of Words");
});

/** How long a start takes while others, more than start at a time, do not come to an end. */
async function startBesideLoops(): Promise<number> {
  await using opened = await TestRuntime.open({ startSeconds: 2 });
  const loops = Array.from({ length: 4 }, (_, i) => scriptOf(`loop-${i}`, ENDLESS_START));
  for (const script of loops) opened.put(script);
  opened.put(answering("other", '"ok"'));
  const given = Promise.all([
    ...loops.map((script) => assert.rejects(opened.runtime.check(script))),
    ...loops.slice(0, 2).map(({ name }) => assert.rejects(opened.get(name))),
  ]);
  await until(() => processesOf(opened).length >= 4);
  const ms = await msOf(() => opened.text("other"));
  await given;
  return ms;
}

test("scripts that loop at their start hold up no other's", () =>
  assertQuick(3_000, startBesideLoops));

test("a cron trigger that takes too long is given up, and its process goes on", async () => {
  await using opened = await TestRuntime.open();
  const source = `export default {
    fetch() { return new Response("fine"); },
    scheduled() { return new Promise((resolve) => setTimeout(resolve, 60000)); } }`;
  opened.put(scriptOf("hangs", source));
  await opened.text("hangs");
  const event = { cron: "* * * * *", scheduledTime: 0 };
  await assert.rejects(opened.runtime.scheduled("id-hangs", event, 200), {
    kind: "crashed",
    message: /given up after 0\.2 s/,
  });
  assert.equal(await opened.text("hangs"), "fine");
});
