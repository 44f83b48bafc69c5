import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { atMost } from "#kit/at-once.ts";
import { until } from "../../../test/support/patience.ts";
import { answering, ask, scriptOf, TestRuntime } from "../../../test/support/script-runtime.ts";
import type { ScriptFaultKind } from "../fault.ts";

/** Asks the bad script for what breaks it, while another must go on answering; returns why it ended. */
async function broken(opened: TestRuntime, source: string): Promise<ScriptFaultKind | null> {
  const bystander = answering("bystander", '"ok"');
  opened.put(bystander);
  opened.put(scriptOf("bad", source));
  assert.equal(await opened.text("bystander"), "ok");
  using place = await opened.runtime.open("id-bad");
  const over = new AbortController();
  const end = ask(place, "/break").then(
    ({ status, text }) => `answered ${status}: ${text}`,
    () => null,
  );
  const watching = (async () => {
    while (!over.signal.aborted) {
      assert.equal(await opened.text("bystander"), "ok");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const answered = await end;
  over.abort();
  await watching;
  // An allocation that fails is an exception, before the end that follows.
  if (answered !== null) assert.match(answered, /^answered 500/);
  await until(() => place.fault() !== null);
  return place.fault()!.kind;
}

function whenAsked(statements: string): string {
  return `const kept = []; let asked = 0;
    export default { async fetch(request) {
      if (!request.url.endsWith("/break")) return new Response("fine");
      ${statements} } }`;
}

suite("a script that", () => {
  test("loops for ever is ended, and works again", async () => {
    await using opened = await TestRuntime.open({ cpuSeconds: 0.5 });
    assert.equal(await broken(opened, whenAsked("for (;;);")), "over-cpu");
    assert.equal(await opened.text("bad"), "fine");
  });

  test("uses much CPU time in short requests is not ended", async () => {
    await using opened = await TestRuntime.open({ cpuSeconds: 0.5 });
    const busy = "(() => { let n = 0; for (let i = 0; i < 1e7; i++) n += i % 7; return n; })()";
    opened.put(answering("busy", busy));
    using place = await opened.runtime.open("id-busy");
    // The machine may be fast or slow: what counts is that it takes longer than the limit in all.
    for (const end = performance.now() + 2_000; performance.now() < end;) {
      assert.equal((await ask(place, "/")).status, 200);
    }
    assert.equal(place.fault(), null);
  });

  const memory: [what: string, statements: string][] = [
    ["objects", "for (;;) kept.push({ a: [1, 2, 3], n: kept.length });"],
    ["buffers", "for (;;) kept.push(new Uint8Array(2 ** 20).fill(1));"],
    [
      "buffers with pauses",
      `for (;;) { kept.push(new Uint8Array(2 ** 20).fill(1));
        if (kept.length % 16 === 0) await new Promise((done) => setTimeout(done, 1)); }`,
    ],
  ];
  for (const [what, statements] of memory) {
    test(`keeps ${what} without end is ended`, async () => {
      await using opened = await TestRuntime.open({ memoryMib: 64 });
      assert.equal(await broken(opened, whenAsked(statements)), "over-memory");
      assert.equal(await opened.text("bad"), "fine");
    });
  }

  test("opens connections without end keeps nothing from others", async () => {
    await using opened = await TestRuntime.open();
    const source = whenAsked(`
      for (let i = 0; i < 3000; i++) kept.push(fetch("http://192.0.2.1:81/").catch(() => 0));
      return new Response("opened");`);
    opened.put(scriptOf("bad", source));
    opened.put(answering("bystander", '"ok"'));
    await opened.text("bad", "/break").catch(() => {});
    assert.equal(await opened.text("bystander"), "ok");
  });

  test("answers with what is no answer gets a 500 for it", async () => {
    await using opened = await TestRuntime.open();
    for (const garbage of ["5", "undefined", '"text"', "Response.error()", "Promise.reject(1)"]) {
      opened.put(scriptOf("bad", `export default { fetch() { return ${garbage}; } }`));
      assert.equal((await opened.get("bad")).status, 500, garbage);
    }
  });

  test("holds a body open holds only itself up", async () => {
    await using opened = await TestRuntime.open({ drainSeconds: 0.2 });
    opened.put(
      answering("bad", "new ReadableStream({ pull() { return new Promise(() => {}); } })"),
    );
    using place = await opened.runtime.open("id-bad");
    const held = ask(place, "/").catch(() => "cut");
    opened.put(answering("bystander", '"ok"'));
    assert.equal(await opened.text("bystander"), "ok");
    opened.put(answering("bad", '"mended"'));
    assert.equal(await opened.text("bad"), "mended");
    await held; // A replaced process does not wait for it beyond its time.
  });
});

test("two hundred scripts are deployed and answer, with fewer processes than that", async () => {
  const SCRIPTS = 200;
  await using opened = await TestRuntime.open({ processes: 20 });
  const names = Array.from({ length: SCRIPTS }, (_, i) => `script-${i}`);
  for (const name of names) opened.put(answering(name, `"${name}"`));
  await atMost(4, names, async (name) => assert.equal(await opened.text(name), name));
  assert.match(opened.metrics.print(), /selvedge_script_starts_total 200\n/);
});

suite("a script reaches", () => {
  const fetching = `export default { async fetch(request) {
    const to = new URL(request.url).searchParams.get("to");
    try { const answer = await fetch(to, { signal: AbortSignal.timeout(2000) });
      return new Response("reached " + answer.status); }
    catch (error) { return new Response("refused"); } } }`;
  const forbidden = [
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://10.0.0.1:PORT/",
    "http://172.16.0.1:PORT/",
    "http://192.168.0.1:PORT/",
    "http://100.64.0.1:PORT/",
    "http://169.254.169.254/",
    "http://[fe80::1]:PORT/",
    "http://[fd00::1]:PORT/",
    "unix:/tmp/x",
    "file:///etc/passwd",
  ];
  test("no address of this machine and its networks, unless that is configured", async () => {
    const { createServer } = process.getBuiltinModule("node:http");
    const server = createServer((_, response) => response.end("secret")).listen(0, "127.0.0.1");
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      const port = String((server.address() as { port: number }).port);
      const askFor = (opened: TestRuntime, to: string) =>
        opened.text("out", `/?to=${encodeURIComponent(to.replace("PORT", port))}`);
      await using opened = await TestRuntime.open();
      opened.put(scriptOf("out", fetching));
      for (const to of forbidden) assert.equal(await askFor(opened, to), "refused", to);
      await using open = await TestRuntime.open({}, { outbound: ["127.0.0.0/8"] });
      open.put(scriptOf("out", fetching));
      assert.equal(await askFor(open, forbidden[0]!), "reached 200");
      assert.equal(await askFor(open, "http://[::1]:PORT/"), "refused");
    } finally {
      server.close();
    }
  });

  test("no sockets of other kinds, no files, no environment and no modules of ours", async () => {
    await using opened = await TestRuntime.open();
    const source = `
      import { connect } from "cloudflare:sockets";
      import { readFileSync } from "node:fs";
      import { connect as nodeConnect } from "node:net";
      const tries = {
        socket: async () => (await connect("127.0.0.1:1").opened),
        node: () => new Promise((yes, no) => nodeConnect(1, "127.0.0.1", yes).on("error", no)),
        file: () => readFileSync("/etc/passwd", "utf8"),
        self: () => readFileSync("/proc/self/environ", "utf8"),
        ours: () => import("selvedge-internal:store"),
        code: () => eval("1"),
        made: () => new Function("return 1")(),
      };
      export default { async fetch(request, env) {
        const told = { env: Object.keys(env), process: { ...process.env } };
        for (const [name, work] of Object.entries(tries)) {
          told[name] = await Promise.resolve().then(work).then(() => "done", () => "refused");
        }
        return Response.json(told); } }`;
    opened.put(scriptOf("curious", source, { flags: ["nodejs_compat"] }));
    assert.deepEqual(JSON.parse(await opened.text("curious")), {
      env: [],
      process: {},
      socket: "refused",
      node: "refused",
      file: "refused",
      self: "refused",
      ours: "refused",
      code: "refused",
      made: "refused",
    });
  });
});
