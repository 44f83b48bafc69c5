/** What we hold to be true of the workerd that we run: a newer one may differ. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { workerdPath } from "./binary.ts";
import { EXPERIMENTAL_FLAGS, NEWEST_DATE } from "./compatibility.ts";
import { processUpstream, READS_AT_ONCE } from "./process-upstream.ts";

/** What workerd says of a worker with these flags; it is not started. */
function complaintsAbout(date: string, flags: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-facts-"));
  try {
    const config = `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (services = [(name = "main", worker = (
        modules = [(name = "main.js", esModule = "throw 1;")],
        compatibilityDate = "${date}", compatibilityFlags = ${JSON.stringify(flags)}))]);`;
    writeFileSync(join(folder, "config.capnp"), config);
    const { stderr } = spawnSync(workerdPath(), ["serve", join(folder, "config.capnp")], {
      encoding: "utf8",
      timeout: 30_000,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 28,
    });
    return stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the experimental flags are those that we refuse", () => {
  // Every word of the program that could be the name of a flag is offered to it.
  const program = readFileSync(workerdPath(), "latin1");
  const words = new Set(program.match(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g));
  const complaints = complaintsAbout("2026-11-01", [...words, "experimental"]);
  const found = [...complaints.matchAll(/flag (\S+) is experimental/g)].map(([, flag]) => flag!);
  assert.deepEqual(found.sort(), [...EXPERIMENTAL_FLAGS].sort());
});

test("the newest compatibility date is the one that we give", () => {
  const complaints = complaintsAbout("2099-01-01", []);
  assert.equal(/newest date supported .* is "([\d-]+)"/.exec(complaints)?.[1], NEWEST_DATE);
});

/** A workerd with a script that answers at once and reads no body. */
async function startDeaf() {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "selvedge-facts-"));
  started.defer(() => rmSync(folder, { recursive: true }));
  const socketPath = join(folder, "http");
  const config = `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = (
        modules = [(name = "main.js",
          esModule = "export default { fetch() { return new Response('heard'); } };")],
        compatibilityDate = "${NEWEST_DATE}"))],
      sockets = [(name = "http", address = "unix:${socketPath}", http = (), service = "main")]);`;
  writeFileSync(join(folder, "config.capnp"), config);
  const child = spawn(workerdPath(), ["serve", "--control-fd=3", join(folder, "config.capnp")], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  started.defer(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await Promise.race([once(child.stdio[3]!, "data"), ended]);
  const all = started.move();
  return { socketPath, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test("a short body that came with its head is read, whatever the script does", async () => {
  await using deaf = await startDeaf();
  using upstream = processUpstream(deaf.socketPath, () => {});
  /** Tells whether the connection had carried another request before. */
  const post = (length: number, headerLength: number) =>
    new Promise<boolean>((resolve, reject) => {
      const headers = `Content-Length: ${length}\r\nX-Header: ${"h".repeat(headerLength)}`;
      const head = `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`;
      let text = "";
      const exchange = upstream.send("POST", head, {
        head: () => {},
        data: (octets) => (text += octets.toString()),
        end: () => (text === "heard" ? resolve(exchange.isReused) : reject(new Error(text))),
        fail: reject,
      });
      exchange.write("x".repeat(length));
      exchange.finish();
    });
  assert.equal(await post(1, 0), false);
  for (const headerLength of [0, 1_000, 8_000, 16_000]) {
    for (const length of [1, 1_000, READS_AT_ONCE - 1, READS_AT_ONCE]) {
      for (let times = 0; times < 5; times++) {
        assert.equal(await post(length, headerLength), true, `${length} behind ${headerLength}`);
      }
    }
  }
  assert.equal(await post(READS_AT_ONCE + 1, 0), true);
  assert.equal(await post(1, 0), false, "what is longer it may not have read");
});
