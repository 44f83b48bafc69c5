import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../../test/support/patience.ts";
import { answering, scriptOf, TestRuntime } from "../../../test/support/script-runtime.ts";
import { ScriptFault } from "../fault.ts";
import type { TailEvent } from "./types.ts";

suite("a script", () => {
  test("answers with what the request said, scheme and facts of the edge included", async () => {
    await using opened = await TestRuntime.open();
    const shown = "JSON.stringify([request.url, request.cf, [...request.headers.keys()]])";
    opened.put(answering("hello", shown));
    const headers = { "x-forwarded-proto": "https", "x-selvedge-cf": '{"country":"CH"}' };
    const { status, text } = await opened.get("hello", "/a?b", headers);
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(text), ["https://example.com/a?b", { country: "CH" }, ["host"]]);
  });

  test("of either syntax runs, with every kind of module and binding", async () => {
    await using opened = await TestRuntime.open();
    const wasm = Buffer.from("AGFzbQEAAAA=", "base64");
    const source = `
      import text from "./a.txt"; import data from "./b.bin"; import json from "./c.json";
      import wasm from "./d.wasm"; import common from "./e.cjs";
      export default { fetch(request, env) {
        const { DATA, ...rest } = env;
        return Response.json({ text, data: [...new Uint8Array(data)], json, common,
          wasm: wasm instanceof WebAssembly.Module, bound: [...new Uint8Array(DATA)], rest });
      } }`;
    opened.put(
      scriptOf("all", source, {
        modules: [
          { name: "a.txt", type: "text", content: Buffer.from("tëxt") },
          { name: "b.bin", type: "data", content: Buffer.from([0, 255]) },
          { name: "c.json", type: "json", content: Buffer.from('{"a":[1]}') },
          { name: "d.wasm", type: "wasm", content: wasm },
          { name: "e.cjs", type: "commonjs", content: Buffer.from("module.exports = 5;") },
          { name: "index.js.map", type: "sourcemap", content: Buffer.from("{}") },
        ],
        bindings: [
          { type: "text", name: "TEXT", text: 'a"b\\c\nd\0";} ]) é' },
          { type: "secret", name: "SECRET", text: "s3cret" },
          { type: "json", name: "JSON", json: { nested: ['"', "\n"] } },
          { type: "data", name: "DATA", data: Buffer.from([1, 0, 2]) },
          { type: "version", name: "VERSION" },
        ],
      }),
    );
    const { rest, ...modules } = JSON.parse(await opened.text("all")) as Record<string, object>;
    assert.deepEqual(modules, {
      text: "tëxt",
      data: [0, 255],
      json: { a: [1] },
      common: 5,
      wasm: true,
      bound: [1, 0, 2],
    });
    const { VERSION, ...values } = rest as Record<string, Record<string, string>>;
    assert.deepEqual(values, {
      TEXT: 'a"b\\c\nd\0";} ]) é',
      SECRET: "s3cret",
      JSON: { nested: ['"', "\n"] },
    });
    assert.match(VERSION!["id"]!, /^version-/);
    assert.equal(VERSION!["timestamp"], "1970-01-01T00:00:01.000Z");

    const worker = `addEventListener("fetch", (event) => {
      event.respondWith(new Response(TEXT + (CODE instanceof WebAssembly.Module))); });`;
    opened.put(
      scriptOf("older", worker, {
        isServiceWorker: true,
        bindings: [
          { type: "text", name: "TEXT", text: "a global: " },
          { type: "wasm", name: "CODE", data: wasm },
        ],
      }),
    );
    assert.equal(await opened.text("older"), "a global: true");
  });

  test("calls scripts that it binds, and they call it; who is not there is an error", async () => {
    await using opened = await TestRuntime.open();
    const service = (name: string, to: string, entrypoint: string | null = null) =>
      ({ type: "service", name, service: to, entrypoint }) as const;
    const ping = `import { WorkerEntrypoint } from "cloudflare:workers";
      export class Sums extends WorkerEntrypoint { add(a, b) { return a + b; } }
      export default { async fetch(request, env) {
        const { pathname } = new URL(request.url);
        if (pathname === "/name") return new Response("ping");
        if (pathname === "/gone") return env.GONE.fetch(request);
        if (pathname === "/sum") return new Response(String(await env.SELF.add(2, 3)));
        return env.PONG.fetch(request); } }`;
    const pong = `export default { async fetch(request, env) {
      const back = await env.PING.fetch("http://x/name");
      return new Response("pong, " + (await back.text()) + env.WORD); } }`;
    const word = (text: string) => ({ type: "text", name: "WORD", text }) as const;
    opened.put(scriptOf("pong", pong, { bindings: [service("PING", "ping"), word("!")] }));
    const bindings = [
      service("PONG", "pong"),
      service("SELF", "ping", "Sums"),
      service("GONE", "gone"),
    ];
    opened.put(scriptOf("ping", ping, { bindings }));
    assert.equal(await opened.text("ping"), "pong, ping!");
    assert.equal(await opened.text("pong"), "pong, ping!");
    assert.equal(await opened.text("ping", "/sum"), "5");
    assert.equal((await opened.get("ping", "/gone")).status, 500);
    opened.put(answering("gone", '"came late"'));
    await until(async () => (await opened.text("ping", "/gone")) === "came late");
    // A script that others bind is replaced in their processes, too.
    opened.put(scriptOf("pong", pong, { bindings: [service("PING", "ping"), word("?")] }));
    assert.equal(await opened.text("ping"), "pong, ping?");
  });

  test("hears of its cron triggers", async () => {
    await using opened = await TestRuntime.open();
    const source = `let last; export default {
      fetch() { return new Response(last); },
      scheduled(event) {
        if (event.cron === "bad") throw new Error("no");
        last = event.cron + " at " + event.scheduledTime; event.noRetry(); } }`;
    opened.put(scriptOf("cron", source));
    const run = (cron: string) =>
      opened.runtime.scheduled("id-cron", { cron, scheduledTime: 60_000 });
    assert.deepEqual(await run("* * * * *"), { outcome: "ok", noRetry: true });
    assert.equal(await opened.text("cron"), "* * * * * at 60000");
    assert.deepEqual(await run("bad"), { outcome: "exception", noRetry: false });
  });

  test("takes messages, each or all, or has them come again", async () => {
    await using opened = await TestRuntime.open();
    const source = `let seen; export default {
      fetch() { return Response.json(seen); },
      async queue(batch, env, ctx) {
        const shown = ({ id, timestamp, attempts, body }) => [id, timestamp.getTime(), attempts, body];
        seen = [batch.queue, batch.messages.map(shown)];
        for (const message of batch.messages) {
          if (message.body.say === "ack") message.ack();
          if (message.body.say === "retry") message.retry();
          if (message.body.say === "all") batch.retryAll();
          if (message.body.say === "throw") throw new Error("no");
        } } }`;
    opened.put(scriptOf("consumer", source));
    opened.put(answering("deaf", '"nothing"'));
    const send = (name: string, ...says: readonly string[]) => {
      const messages = says.map((say, i) => ({
        id: `m${i}`,
        timestamp: 60_000,
        attempts: 2,
        body: { say },
      }));
      return opened.runtime.queue(`id-${name}`, { queue: "q", messages });
    };
    const nothing = {
      outcome: "ok",
      ackAll: false,
      retryBatch: { retry: false },
      explicitAcks: [],
      retryMessages: [],
    };
    assert.deepEqual(await send("consumer", "plain"), nothing);
    assert.deepEqual(JSON.parse(await opened.text("consumer")), [
      "q",
      [["m0", 60_000, 2, { say: "plain" }]],
    ]);
    assert.deepEqual(await send("consumer", "ack", "retry", "throw"), {
      ...nothing,
      outcome: "exception",
      explicitAcks: ["m0"],
      retryMessages: [{ msgId: "m1" }],
    });
    assert.deepEqual(await send("consumer", "all"), { ...nothing, retryBatch: { retry: true } });
    assert.deepEqual(await send("deaf", "plain"), { ...nothing, outcome: "exception" });
  });

  test("finds its cache empty", async () => {
    await using opened = await TestRuntime.open();
    const source = `export default { async fetch() {
      const cache = caches.default;
      const kept = { headers: { "cache-control": "max-age=100" } };
      await cache.put("http://x/", new Response("v".repeat(100000), kept));
      const seen = [await cache.match("http://x/"), await cache.delete("http://x/")];
      return Response.json(seen.map(String)); } }`;
    opened.put(scriptOf("cached", source));
    assert.equal(await opened.text("cached"), '["undefined","false"]');
  });
});

suite("what a script says", () => {
  test("is in the platform's log with its name, and not more than bounds allow", async () => {
    // Time stands still, or a slow machine would be granted more.
    await using opened = await TestRuntime.open({}, { now: () => 1_000 });
    const source = `export default { fetch() {
      console.log("hello", { a: 1 }); console.error("two\\nlines");
      for (let i = 0; i < 3000; i++) console.log("x".repeat(10000));
      throw new Error("thrown"); } }`;
    opened.put(scriptOf("talker", source));
    assert.equal((await opened.get("talker")).status, 500);
    const said = () => opened.lines.filter(({ event }) => event === "script output");
    await until(() => said().length >= 200);
    assert.deepEqual(
      said()
        .slice(0, 2)
        .map(({ script, level, said }) => ({ script, level, said })),
      [
        { script: "talker", level: "info", said: "hello { a: 1 }" },
        { script: "talker", level: "warn", said: "two\nlines" },
      ],
    );
    assert.ok(said().length < 300);
    assert.ok(said().every((line) => String(line["said"]).length < 5_000));
  });

  test("is told to those who tail it, while they do", async () => {
    await using opened = await TestRuntime.open();
    const source = `export default { async fetch(request) {
      console.log("at", new URL(request.url).pathname);
      if (request.url.endsWith("/bad")) throw new TypeError("oh");
      await new Promise((resolve) => setTimeout(resolve, 60));
      return new Response("fine", { status: 201 }); } }`;
    // Line 3, whence all of it comes, is line 30 of the source.
    const map = { version: 3, sources: ["src/traced.ts"], names: [], mappings: ";;AA6BA" };
    const content = Buffer.from(JSON.stringify(map));
    const modules = [{ name: "index.js.map", type: "sourcemap", content } as const];
    opened.put(scriptOf("traced", source, { modules }));
    await opened.get("traced", "/before");
    const events: TailEvent[] = [];
    const tail = await opened.runtime.tail("id-traced", (event) => events.push(event));
    await opened.get("traced", "/good");
    const askedAt = Date.now();
    await opened.get("traced", "/bad");
    await until(() => events.length === 2);
    const badMs = Date.now() - askedAt;
    const [good, bad] = events as [TailEvent, TailEvent];
    assert.equal(good.scriptName, "traced");
    assert.equal(good.outcome, "ok");
    assert.deepEqual(good.logs[0]?.message, ["at", "/good"]);
    assert.equal(good.logs[0]?.level, "log");
    const { request, response } = good.event as Record<string, Record<string, unknown>>;
    assert.equal(request!["url"], "http://example.com/good");
    assert.equal(response!["status"], 201);
    assert.equal(bad.outcome, "exception");
    assert.equal(bad.exceptions[0]?.name, "TypeError");
    assert.equal(bad.exceptions[0]?.message, "oh");
    assert.equal(bad.exceptions[0]?.stack, "    at Object.fetch (src/traced.ts:30:47)");
    assert.ok(good.wallTime >= 50 && bad.wallTime <= badMs, `${good.wallTime}, ${bad.wallTime} ms`);
    await tail[Symbol.asyncDispose]();
    assert.equal((await opened.get("traced", "/after")).status, 201);
    assert.equal(events.length, 2);
  });
});

suite("a version that does not start", () => {
  const INTERNALS = /service main|\.capnp|selvedge-|workerd|\.(?:c\+\+|h):\d|0x|N\d/;
  const cases: [name: string, source: string, message: RegExp][] = [
    [
      "a syntax error",
      "export default { fetch( }\n",
      /SyntaxError: Unexpected token '}'\n\s+at index\.js:1/,
    ],
    ["an exception", "null.x; export default {}", /TypeError: Cannot read properties of null/],
    [
      "a module that is not there",
      'import "./no.js"; export default {}',
      /No such module "no\.js"/,
    ],
    ["no handlers", "export const x = 1;", /not of type/],
    ["nothing at all", "export default null;", /Cannot initialize ExportedHandler/],
    ["too much memory", "const all = []; for (;;) all.push(Array(1e6).fill(1));", /more memory/],
    ["work before a request", 'await fetch("http://x/"); export default {}', /global scope/],
  ];
  test("is refused with what the compiler says", async () => {
    await using opened = await TestRuntime.open();
    for (const [name, source, message] of cases) {
      await assert.rejects(opened.runtime.check(scriptOf("bad", source)), (error) => {
        assert.ok(error instanceof ScriptFault, name);
        assert.equal(error.kind, "does-not-start");
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, INTERNALS);
        return true;
      });
    }
    const older = (source: string) =>
      opened.runtime.check(scriptOf("bad", source, { isServiceWorker: true }));
    await assert.rejects(older("const x = 1;"), { message: /No event handlers were registered/ });
    await assert.rejects(older("null.x"), (error: Error) => {
      assert.match(
        error.message,
        /^Uncaught TypeError: Cannot read properties of null.*\n {2}at .*$/,
      );
      return true;
    });
  });

  test("is refused without a word of where the platform keeps things", async () => {
    await using opened = await TestRuntime.open();
    const type = "unheard-of" as "data";
    const modules = [{ name: "a", type, content: Buffer.from("a") }];
    const check = opened.runtime.check(scriptOf("bad", "export default {}", { modules }));
    await assert.rejects(check, (error: Error) => {
      assert.match(error.message, /^config\.capnp:\d/);
      return true;
    });
  });

  test("is refused when it asks for what no script may have", async () => {
    await using opened = await TestRuntime.open();
    for (const flag of [
      "experimental",
      "unsafe_module",
      "allow_insecure_inefficient_logged_eval",
    ]) {
      const script = answering("bad", "1", { flags: [flag] });
      await assert.rejects(opened.runtime.check(script), { kind: "does-not-start" });
    }
    const unknown = answering("bad", "1", { flags: ["no_such_flag"] });
    await assert.rejects(opened.runtime.check(unknown), /No such compatibility flag: no_such_flag/);
    const bound = answering("bad", "1", {
      bindings: [{ type: "service", name: "S", service: "nobody", entrypoint: null }],
    });
    await assert.rejects(opened.runtime.check(bound), /no such script/);
  });

  test("is left alone for a while, and tried again when there is another", async () => {
    const now = Date.now();
    await using opened = await TestRuntime.open({}, { now: () => now });
    opened.put(scriptOf("bad", "throw new Error('each time');"));
    await assert.rejects(opened.get("bad"), { kind: "does-not-start", message: /each time/ });
    await assert.rejects(opened.get("bad"), { kind: "unavailable", message: /each time/ });
    opened.put(answering("bad", '"good"'));
    assert.equal(await opened.text("bad"), "good");
  });

  test("that takes for ever is given up", async () => {
    await using opened = await TestRuntime.open({ startSeconds: 0.5 });
    await assert.rejects(opened.runtime.check(scriptOf("bad", "for (;;);")), {
      kind: "does-not-start",
      message: /did not start within 0\.5 s/,
    });
  });
});
