import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { assertQuick, until } from "../../../test/support/patience.ts";
import {
  answering,
  ask,
  processesOf,
  readCommand,
  scriptOf,
  TestRuntime,
} from "../../../test/support/script-runtime.ts";
import { RunFolder } from "./run-folder.ts";

suite("a deploy", () => {
  test("drops no request and answers none with the old version once it is told", async () => {
    await using opened = await TestRuntime.open();
    await opened.deploy(answering("live", '"1"'));
    const over = new AbortController();
    const seen = new Set<string>();
    const clients = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) seen.add(await opened.text("live"));
    });
    for (let version = 2; version <= 6; version++) {
      await opened.deploy(answering("live", `"${version}"`));
      assert.equal(await opened.text("live"), String(version));
    }
    over.abort();
    await Promise.all(clients);
    for (const text of seen) assert.match(text, /^[1-6]$/);
    await until(() => processesOf(opened).length === 1);
  });

  test("lets requests of the version before it finish", async () => {
    await using opened = await TestRuntime.open();
    const slow = `await new Promise((done) => setTimeout(done, 400)) ?? "slow"`;
    opened.put(answering("live", slow));
    await opened.runtime.open("id-live").then((place) => place[Symbol.dispose]());
    const old = opened.text("live");
    await opened.deploy(answering("live", '"new"'));
    assert.equal(await opened.text("live"), "new");
    assert.equal(await old, "slow");
  });

  test("ends a process that does not finish in its time", async () => {
    await using opened = await TestRuntime.open({ drainSeconds: 0.3 });
    opened.put(answering("live", `await new Promise((done) => setTimeout(done, 60000))`));
    using place = await opened.runtime.open("id-live");
    const old = assert.rejects(ask(place, "/"));
    await opened.deploy(answering("live", '"new"'));
    assert.equal(await opened.text("live"), "new");
    await old;
    await until(() => processesOf(opened).length === 1);
  });

  test("that fails leaves the version before it in place", async () => {
    await using opened = await TestRuntime.open();
    await opened.deploy(answering("live", '"good"'));
    assert.equal(await opened.text("live"), "good");
    opened.put(scriptOf("live", "throw 1;"));
    assert.equal(await opened.text("live"), "good");
    assert.equal(await opened.text("live"), "good");
  });

  test("of a script that is removed ends its process", async () => {
    await using opened = await TestRuntime.open();
    opened.put(answering("gone", "1"));
    assert.equal(await opened.text("gone"), "1");
    opened.remove("gone");
    await assert.rejects(opened.get("gone"), { kind: "not-found" });
    await until(() => processesOf(opened).length === 0);
  });
});

suite("a process", () => {
  /** Returns when it is back, in milliseconds. */
  async function killUnderLoad(): Promise<number> {
    await using opened = await TestRuntime.open();
    opened.put(answering("live", '"ok"'));
    await opened.text("live");
    let [failed, after] = [0, 0];
    const over = new AbortController();
    const clients = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        await opened.text("live").then(
          () => after++,
          () => failed++,
        );
      }
    });
    const [pid] = processesOf(opened);
    process.kill(pid!, "SIGKILL");
    const since = performance.now();
    await until(() => failed > 0);
    after = 0;
    await until(() => after > 0);
    const backAfterMs = performance.now() - since;
    over.abort();
    await Promise.all(clients);
    assert.ok(failed <= 8, `${failed} failed`);
    using place = await opened.runtime.open("id-live");
    assert.equal(place.fault(), null);
    return backAfterMs;
  }

  test("killed under load is back within a second, and only requests that it had fail", () =>
    assertQuick(1_000, killUnderLoad));

  test("that falls again and again is left alone in between", async () => {
    let clock = Date.now();
    await using opened = await TestRuntime.open({}, { now: () => clock });
    opened.put(answering("live", '"ok"'));
    for (let falls = 0; falls < 2; falls++) {
      assert.equal(await opened.text("live"), "ok");
      for (const pid of processesOf(opened)) process.kill(pid, "SIGKILL");
      await until(
        () => opened.lines.filter(({ event }) => event === "script ended").length > falls,
      );
    }
    await assert.rejects(opened.get("live"), { kind: "unavailable" });
    clock += 250;
    assert.equal(await opened.text("live"), "ok");
  });

  test("that nobody asks is stopped, and started when someone does", async () => {
    await using opened = await TestRuntime.open({ idleSeconds: 0.2 });
    opened.put(answering("idle", '"ok"'));
    assert.equal(await opened.text("idle"), "ok");
    await until(() => processesOf(opened).length === 0);
    assert.equal(await opened.text("idle"), "ok");
  });

  test("makes room for another when there are too many", async () => {
    await using opened = await TestRuntime.open({ processes: 2 });
    for (const name of ["a", "b", "c"]) opened.put(answering(name, `"${name}"`));
    assert.equal(await opened.text("a"), "a");
    assert.equal(await opened.text("b"), "b");
    assert.equal(await opened.text("a"), "a");
    assert.equal(await opened.text("c"), "c"); // b was used longest ago.
    using held = new DisposableStack();
    for (const id of ["id-a", "id-c"]) held.use(await opened.runtime.open(id));
    await assert.rejects(opened.get("b"), { kind: "unavailable" });
    await until(() => processesOf(opened).length === 2);
  });

  test("takes its place as long as it finishes what it was asked", async () => {
    await using opened = await TestRuntime.open({ processes: 2 });
    for (const name of ["a", "b"]) opened.put(answering(name, `"${name}"`));
    const old = await opened.runtime.open("id-a");
    opened.put(answering("a", '"next"'));
    assert.equal(await opened.text("a"), "next");
    using next = await opened.runtime.open("id-a");
    assert.notEqual(next.socketPath, old.socketPath);
    await assert.rejects(opened.get("b"), { kind: "unavailable" });
    old[Symbol.dispose]();
    assert.equal(await opened.text("b"), "b");
  });

  test("of another account finds a place, however many scripts one keeps busy", async () => {
    await using opened = await TestRuntime.open({ processes: 4 });
    using held = new DisposableStack();
    for (const name of ["a", "b", "c", "d"]) opened.put(answering(name, `"${name}"`));
    for (const name of ["a", "b", "c"]) held.use(await opened.runtime.open(`id-${name}`));
    await assert.rejects(opened.get("d"), { kind: "unavailable" });
    opened.put(answering("other", '"ok"', { accountId: "b".repeat(32) }));
    assert.equal(await opened.text("other"), "ok");
  });

  test("leaves nothing on disk, and its configuration is for its owner only", async () => {
    await using opened = await TestRuntime.open();
    const run = join(opened.folder, "run");
    opened.put(
      answering("hidden", '"ok"', { bindings: [{ type: "secret", name: "S", text: "x" }] }),
    );
    await opened.text("hidden");
    assert.deepEqual(readdirSync(run), ["sockets"]);
    assert.equal(statSync(run).mode & 0o077, 0);
    const sockets = await readFile(join(run, "sockets"), "utf8");
    assert.equal(statSync(sockets).mode & 0o077, 0);
    assert.doesNotMatch(readCommand(processesOf(opened)[0]!), /s3cret|Bearer/);
  });
});

test("what a platform that was killed has left is ended at the next start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-runtime-"));
  const run = join(folder, "run");
  const sockets = await mkdtemp(join(tmpdir(), "selvedge-run-"));
  await mkdir(join(run, "7"), { recursive: true });
  await writeFile(join(run, "sockets"), sockets);
  const command = ["-e", "setInterval(() => {}, 1000)", join(run, "7/config.capnp")];
  const leftOver = spawn(process.execPath, command, { stdio: "ignore" });
  const stranger = spawn(process.execPath, [...command.slice(0, 2), "/tmp/x.capnp"], {
    stdio: "ignore",
  });
  try {
    await until(() => leftOver.pid !== undefined && readCommand(leftOver.pid).includes("capnp"));
    const opened = await RunFolder.open(run);
    await until(() => leftOver.signalCode === "SIGKILL");
    assert.equal(stranger.signalCode, null);
    assert.ok(!existsSync(sockets));
    assert.deepEqual(readdirSync(run), ["sockets"]);
    await opened[Symbol.asyncDispose]();
    assert.ok(!existsSync(run));
  } finally {
    leftOver.kill("SIGKILL");
    stranger.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});
