/** Large objects from the command line: what was interrupted goes on where it stopped. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { Cli, ended } from "../support/cli.ts";
import { until } from "../support/patience.ts";
import { readMetrics } from "../support/prometheus.ts";
import { KEY, startServer, type TestServer } from "../support/server.ts";

const MIB = 1024 * 1024;
/** Of the parts that the commands cut a large file into. */
const PART = 8 * MIB;

let server: TestServer;
let cli: Cli;
before(async () => {
  server = await startServer();
  cli = await Cli.for(server.origin);
});
after(async () => {
  await cli[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const file = (name: string) => join(cli.folder, name);

suite("a large transfer that was interrupted", () => {
  const SIZE = 100 * MIB;
  const PARTS = Math.ceil(SIZE / PART);
  const content = randomBytes(SIZE);
  const count = async (operation: string) =>
    (await readMetrics(server)).value("selvedge_objects_operations_total", {
      operation,
      result: "ok",
    });
  /** Waits until the journal has so many parts, then ends the command; returns how many there are. */
  const stopAfter = async (parts: number, signal: NodeJS.Signals, args: readonly string[]) => {
    const child = cli.start(args);
    let said = "";
    child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const over = ended(child);
    try {
      await until(async () => (await doneParts()) >= parts);
    } finally {
      child.kill(signal);
    }
    return { code: await over, said, done: await doneParts() };
  };
  const journal = async (): Promise<string> => {
    const folder = file("cache/selvedge/transfers");
    const [name] = await readdir(folder).catch(() => []);
    return name === undefined ? "" : readFile(join(folder, name), "utf8").catch(() => "");
  };
  /** Without the head, and what follows the last line. */
  const doneParts = async () => Math.max(0, (await journal()).split("\n").length - 2);
  before(async () => {
    await cli.must(["bucket", "create", "large"]);
    await writeFile(file("big"), content);
  });

  test("by a kill goes on with the parts that are missing", async () => {
    const put = ["object", "put", "large/big", "big", "--parallel", "1"];
    const { code, done } = await stopAfter(3, "SIGKILL", put);
    assert.equal(code, null);
    assert.ok(done >= 3 && done < PARTS, `${done} parts were done`);
    assert.equal((await cli.run(["object", "head", "large/big"])).code, 3);
    const before = await count("uploadPart");
    const resumed = await cli.run(put);
    assert.deepEqual([resumed.code, resumed.stdout], [0, "Stored large/big (100 MiB).\n"]);
    const there = `${done * 8} MiB of 100 MiB are there`;
    assert.equal(resumed.stderr, `Going on with big where an earlier command stopped: ${there}.\n`);
    assert.equal((await count("uploadPart")) - before, PARTS - done);
    assert.equal(await doneParts(), 0);
  });

  test("does not go on with a file that has changed since", async () => {
    const put = ["object", "put", "large/other", "big", "--parallel", "1"];
    await stopAfter(2, "SIGKILL", put);
    const changed = Buffer.from(content);
    changed[0]! ^= 1;
    await writeFile(file("big"), changed);
    const before = await count("uploadPart");
    await cli.must(put);
    assert.equal((await count("uploadPart")) - before, PARTS);
    assert.equal(await count("abortUpload"), 1, "the server was left with the parts");
    await writeFile(file("big"), content);
  });

  test("begins anew when the server has forgotten it", async () => {
    const put = ["object", "put", "large/forgotten", "big", "--parallel", "1"];
    await stopAfter(2, "SIGKILL", put);
    const [head] = (await journal()).split("\n");
    const { uploadId } = JSON.parse(head!) as { uploadId: string };
    const bucket = connectStore({ url: server.origin, key: KEY }).bucket("large");
    await bucket.resumeMultipartUpload("forgotten", uploadId).abort();
    const { code, stdout, stderr } = await cli.run(put);
    assert.deepEqual([code, stdout], [0, "Stored large/forgotten (100 MiB).\n"]);
    assert.match(
      stderr,
      /^Going on with forgotten where an .*\nThe server has forgotten the earlier upload; it begins anew\.\n$/,
    );
  });

  test("by Ctrl-C says that it can go on, and leaves no file of that name", async () => {
    const get = ["object", "get", "large/big", "down", "--parallel", "1"];
    const { code, said, done } = await stopAfter(3, "SIGINT", get);
    assert.deepEqual([code, said], [130, "The same command goes on where this one stopped.\n"]);
    await assert.rejects(readFile(file("down")));
    const before = await count("get");
    await cli.must(get);
    assert.equal((await count("get")) - before, PARTS - done);
    assert.ok(content.equals(await readFile(file("down"))));
    assert.ok(!(await readdir(cli.folder)).some((name) => name.endsWith(".selvedge-part")));
  });

  test("by a part that was damaged on disk fetches that part again", async () => {
    const get = ["object", "get", "large/big", "down2", "--parallel", "1"];
    const { done } = await stopAfter(3, "SIGKILL", get);
    const draft = file(".down2.selvedge-part");
    const octets = await readFile(draft);
    octets[5]! ^= 1;
    await writeFile(draft, octets);
    const before = await count("get");
    await cli.must(get);
    assert.equal((await count("get")) - before, PARTS - done + 1);
    assert.ok(content.equals(await readFile(file("down2"))));
  });

  test("by a restart of the server does not fail", async () => {
    const child = cli.start(["object", "put", "large/again", "big", "--parallel", "2"]);
    let said = "";
    child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const over = ended(child);
    await until(async () => (await doneParts()) >= 2);
    await server.end("SIGKILL");
    child.kill("SIGSTOP"); // Its patience ends, and a slow machine may take long for a start.
    const args = ["--api", new URL(server.origin).host];
    const start = startServer({ data: server.data, args });
    await using second = await start.finally(() => child.kill("SIGCONT"));
    assert.equal(second.origin, server.origin);
    assert.equal(await over, 0, said);
    const size = (await cli.json<{ size: number }>(["object", "head", "large/again"])).size;
    assert.equal(size, SIZE);
    await second.end();
    await server[Symbol.asyncDispose]();
    server = await startServer({ args });
  });
});
