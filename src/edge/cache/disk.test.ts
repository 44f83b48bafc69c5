/** The cache on disk: what survives, what is never served, and how much there is. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { until } from "../../../test/support/patience.ts";
import { bodyOf } from "./crash-writer.contract.ts";
import { DiskLedger } from "./disk-ledger.ts";
import { DiskStore } from "./disk-store.ts";
import { octetsOf, type Script, settle, slowBody, type Told, World } from "./origin.contract.ts";

const scratch = await mkdtemp(join(tmpdir(), "selvedge-cache-"));
after(() => rm(scratch, { recursive: true }));

const fresh = { "Cache-Control": "max-age=600" };

/** A process's cache on the folder; another on the same folder is the process after it. */
async function start(folder: string, script: Script | Told = {}, limitOctets = 64 * 1024 ** 2) {
  const ledger = new DiskLedger({ folder, limitOctets, onError: assert.fail });
  const disk = await DiskStore.open(folder, ledger);
  await ledger.load();
  const world = new World(script, { disk });
  return { ledger, world };
}

const freshFolder = () => mkdtemp(join(scratch, "f-"));

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Files that a later process finds were written before it started, which the clock of a fast test may not show. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 10));

const LARGE = 3 * 1024 ** 2;

suite("the cache on disk", () => {
  test("survives a restart: small and large bodies, variants, ages, purges", async () => {
    const folder = await freshFolder();
    const large = randomBytes(LARGE);
    const first = await start(folder);
    first.world.script = () => ({ headers: { ...fresh, ETag: '"1"' }, body: "small" });
    await first.world.get("/small");
    first.world.script = () => ({ headers: fresh, body: large });
    await first.world.get("/large");
    first.world.script = () => ({ headers: { ...fresh, Vary: "X-A" }, body: "variant" });
    await first.world.get("/vary", { "x-a": "1" });
    await until(() => first.ledger.size === 4);
    await aMoment();

    const { world, ledger } = await start(folder, { status: 500 });
    assert.equal(ledger.size, 4);
    assert.equal(ledger.octets, first.ledger.octets);
    world.pass(5);
    const small = await world.get("/small");
    assert.deepEqual([small.cache, small.body, small.headers["age"]], ["HIT", "small", "5"]);
    const again = await world.open("/large");
    assert.equal(again.cacheStatus, "HIT");
    assert.ok((await octetsOf(again.body)).equals(large));
    assert.equal((await world.get("/vary", { "x-a": "1" })).body, "variant");
    assert.equal((await world.get("/vary", { "x-a": "2" })).status, 500);
    const part = await world.open("/large", { range: `bytes=${LARGE / 2}-${LARGE / 2 + 299_999}` });
    assert.equal(part.status, 206);
    assert.ok((await octetsOf(part.body)).equals(large.subarray(LARGE / 2, LARGE / 2 + 300_000)));
    const head = await world.get("/large", {}, { method: "HEAD" });
    assert.equal(head.headers["content-length"], String(LARGE));
  });

  test("does not serve what was purged while it was away", async () => {
    const folder = await freshFolder();
    const first = await start(folder, { headers: fresh, body: "old" });
    await first.world.get("/a");
    await first.world.get("/b");
    await until(() => first.ledger.size === 2);
    await aMoment();
    const { world } = await start(folder, { headers: fresh, body: "new" });
    world.purges.add([{ number: 1, zoneId: "z", kind: "url", value: "www.example.com/a" }]);
    assert.equal((await world.get("/a")).body, "new");
    assert.equal((await world.get("/b")).body, "old");
  });

  test("keeps a renewed head with the old octets", async () => {
    const folder = await freshFolder();
    const large = randomBytes(LARGE);
    const first = await start(folder, { headers: { ...fresh, ETag: '"1"' }, body: large });
    await octetsOf((await first.world.open("/")).body);
    await until(() => first.ledger.size === 1);
    first.world.pass(601);
    const date = new Date(first.world.now).toUTCString();
    first.world.script = () => ({ status: 304, headers: { Date: date, "X-New": "1" } });
    const renewed = await first.world.open("/");
    assert.equal(renewed.cacheStatus, "REVALIDATED");
    await octetsOf(renewed.body);
    await until(async () => (await filesIn(folder)).every((path) => !path.endsWith(".new")));
    await aMoment();
    const { world } = await start(folder, { status: 500 });
    world.pass(700);
    const kept = await world.open("/");
    assert.equal(kept.cacheStatus, "HIT");
    assert.ok(kept.headers.includes("X-New"));
    assert.ok((await octetsOf(kept.body)).equals(large));
  });

  test("never serves a file that is not whole, whatever became of it", async () => {
    const large = randomBytes(LARGE);
    const damages: [string, (path: string, bytes: Buffer) => Promise<unknown>][] = [
      ["cut to nothing", (path) => truncate(path, 0)],
      ["cut to a few octets", (path) => truncate(path, 7)],
      ["cut in the middle", (path, bytes) => truncate(path, bytes.length >> 1)],
      ["cut by an octet", (path, bytes) => truncate(path, bytes.length - 1)],
      [
        "an octet flipped",
        (path, bytes) => ((bytes[bytes.length >> 1]! ^= 1), writeFile(path, bytes)),
      ],
      ["zeroed, as after a power cut", (path, bytes) => writeFile(path, bytes.fill(0))],
      ["gone", (path) => rm(path)],
    ];
    for (const [body, files] of [
      [large, 2],
      [Buffer.from("small"), 1],
    ] as const) {
      for (const [name, damage] of damages) {
        for (let which = 0; which < files; which++) {
          const folder = await freshFolder();
          const first = await start(folder, { headers: fresh, body });
          await octetsOf((await first.world.open("/")).body);
          await until(() => first.ledger.size === 1);
          const path = (await filesIn(folder)).sort()[which]!;
          await damage(path, await readFile(path));
          await aMoment();
          const { world } = await start(folder, { headers: fresh, body });
          const octets = await octetsOf((await world.open("/")).body).catch(() => null);
          assert.ok(octets === null || octets.equals(body), `${name}: was served`);
          const next = await octetsOf((await world.open("/")).body);
          assert.ok(next.equals(body), `${name}: is tried again`);
        }
      }
    }
  });

  test("takes away what a killed process left unfinished", async () => {
    const folder = await freshFolder();
    const first = await start(folder, { headers: fresh, body: randomBytes(LARGE) });
    await octetsOf((await first.world.open("/a")).body);
    await until(() => first.ledger.size === 1);
    const slow = slowBody();
    first.world.script = () => ({ headers: fresh, body: slow });
    const { body } = await first.world.open("/b");
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    slow.send(randomBytes(LARGE));
    await reader.next();
    await until(async () => (await filesIn(folder)).length === 3);
    const [some] = await filesIn(folder);
    await writeFile(`${some!}.new`, "half");
    await aMoment();
    // The first process hangs; for the second it is gone.
    const { world, ledger } = await start(folder, { status: 500 });
    await ledger.settled();
    assert.deepEqual([ledger.size, (await filesIn(folder)).length], [1, 2]);
    assert.equal((await world.get("/a")).cache, "HIT");
    await reader.return!();
  });

  test("has nothing but whole bodies after its process was killed", async () => {
    for (const lines of [3, 25, 70]) {
      const folder = await freshFolder();
      const program = fileURLToPath(new URL("crash-writer.contract.ts", import.meta.url));
      const writer = spawn(process.execPath, [program, folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        let seen = 0;
        for await (const chunk of writer.stdout) {
          seen += String(chunk).split("\n").length - 1;
          if (seen >= lines) writer.kill("SIGKILL");
        }
      } finally {
        writer.kill("SIGKILL");
      }
      await aMoment();
      const { world, ledger } = await start(folder, { status: 500 });
      let hits = 0;
      for (let i = 0; i < 40; i++) {
        const answer = await world.open(`/${i}`);
        const octets = await octetsOf(answer.body);
        if (answer.status === 500) continue;
        hits++;
        assert.ok(octets.equals(bodyOf(`/${i}`)));
      }
      assert.ok(hits > 0, "nothing was kept");
      await ledger.settled();
      assert.ok((await filesIn(folder)).length <= 2 * ledger.size, "something was left");
    }
  });

  test("goes on without its client when most is there, and else lets go", async () => {
    for (const [sent, isKept] of [
      [1024, false],
      [LARGE / 2, true],
    ] as const) {
      const body = slowBody();
      let abandoned = false;
      const onAbandon = () => {
        abandoned = true;
        body.cut();
      };
      const headers = { ...fresh, "Content-Length": String(LARGE) };
      const { world, ledger } = await start(await freshFolder(), { headers, body, onAbandon });
      const { body: octets } = await world.open("/");
      const reader = (octets as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      body.send(Buffer.alloc(sent));
      await reader.next();
      await reader.return!();
      assert.equal(abandoned, !isKept);
      if (!isKept) continue;
      body.send(Buffer.alloc(LARGE - sent));
      body.end();
      await until(() => ledger.size === 1);
      assert.equal((await world.open("/", {}, { method: "HEAD" })).cacheStatus, "HIT");
    }
  });

  test("lets many read a large body behind its writer, each at its own pace", async () => {
    const folder = await freshFolder();
    const large = randomBytes(LARGE);
    const world = (await start(folder)).world;
    world.script = () => ({
      headers: fresh,
      body: (async function* () {
        for (let at = 0; at < LARGE; at += 65_536) {
          if (at % 524_288 === 0) await settle();
          yield large.subarray(at, at + 65_536);
        }
      })(),
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.open("/")));
    const bodies = await Promise.all(
      answers.map(async ({ body }, i) => {
        for (let turn = 0; turn < i; turn++) await settle();
        return octetsOf(body);
      }),
    );
    assert.ok(bodies.every((body) => body.equals(large)));
    assert.equal(world.fetches.length, 1);
  });

  test("that has no room goes on in memory", async () => {
    const folder = await freshFolder();
    const { world } = await start(folder);
    for (const name of await readdir(folder))
      await rename(join(folder, name), join(folder, `x${name}`));
    world.script = () => ({ headers: fresh, body: "small" });
    await world.get("/");
    assert.equal((await world.get("/")).cache, "HIT");
    const large = randomBytes(LARGE);
    world.script = () => ({ headers: fresh, body: large });
    assert.ok((await octetsOf((await world.open("/large")).body)).equals(large));
    await until(() => world.errors.length >= 2);
  });

  test("holds no more octets than it may, and lets the longest unused go", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 40_000 })), { maxLength: 40 }),
        async (puts) => {
          const folder = await freshFolder();
          const limit = 100_000;
          const ledger = new DiskLedger({ folder, limitOctets: limit, onError: assert.fail });
          const disk = await DiskStore.open(folder, ledger);
          for (const [id, size] of puts) {
            const mark = { vary: ["x".repeat(size)], id: String(id) };
            await disk.put(`key ${id}`, { mark });
            assert.ok(ledger.octets <= limit);
          }
          await ledger.settled();
          const kept: string[] = [];
          for (const id of new Set(puts.map(([one]) => one))) {
            if ((await disk.read(`key ${id}`)) !== null) kept.push(`key ${id}`);
          }
          assert.equal(kept.length, ledger.size);
          const last = puts.at(-1);
          if (last !== undefined) assert.ok(kept.includes(`key ${last[0]}`), "the newest stays");
          await rm(folder, { recursive: true });
        },
      ),
      { numRuns: 10 },
    );
  });
});
