import assert from "node:assert/strict";
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { readAddress, readObjectAddress } from "./address.ts";
import { pathBelow } from "./get.ts";
import { dropOldJournals, Journal, journalFolder } from "./journal.ts";
import { planPut } from "./local-files.ts";
import { partsOf } from "./parts.ts";

const MIB = 1024 * 1024;
const folder = await mkdtemp(join(tmpdir(), "selvedge-transfers-"));
after(() => rm(folder, { recursive: true }));

suite("an address", () => {
  test("is parted at its first slash", () => {
    assert.deepEqual(readAddress("photos/a/b"), { bucket: "photos", key: "a/b" });
    assert.deepEqual(readAddress("photos"), { bucket: "photos", key: "" });
    assert.deepEqual(readAddress("photos//b"), { bucket: "photos", key: "/b" });
  });
  test("must name what is asked for", () => {
    assert.throws(() => readAddress("/key"), /names no bucket/);
    assert.throws(() => readObjectAddress("photos/"), /names no object/);
  });
});

suite("a large object is cut into parts", () => {
  test("that are equal, large enough, and cover it", () => {
    for (const size of [8 * MIB + 1, 100 * MIB, 16 * MIB, 200_000 * MIB + 3]) {
      const parts = partsOf(size);
      const { length } = parts[0]!;
      assert.ok(parts.length <= 10_000 && length >= 5 * MIB);
      assert.ok(parts.slice(0, -1).every((part) => part.length === length));
      assert.equal(parts.at(-1)!.offset + parts.at(-1)!.length, size);
      assert.deepEqual(parts.map(({ number }) => number).slice(0, 2), [1, 2]);
    }
  });
  test("of which nothing has none", () => assert.deepEqual(partsOf(0), []));
});

suite("a journal", () => {
  const journals = join(folder, "journals");
  const what = { key: "k", size: 5 };

  test("is found again by the same transfer only, with what was done", async () => {
    const journal = await Journal.open<{ id: string }>(journals, what);
    assert.equal(journal.head, null);
    await journal.begin({ id: "u" });
    await journal.add(2, "two");
    await journal.add(1, "one");
    const again = await Journal.open<{ id: string }>(journals, { ...what });
    assert.deepEqual(again.head, { id: "u" });
    assert.deepEqual(Object.fromEntries(again.parts), { 1: "one", 2: "two" });
    assert.equal((await Journal.open(journals, { ...what, size: 6 })).head, null);
    await again.drop();
    assert.equal((await Journal.open(journals, what)).head, null);
  });

  test("does not believe a line that was cut short, nor one that is damaged", async () => {
    const journal = await Journal.open<{ id: string }>(journals, what);
    await journal.begin({ id: "u" });
    await journal.add(1, "one");
    const path = join(journals, (await readdir(journals))[0]!);
    await appendFile(path, '[2,"tw');
    const cut = await Journal.open(journals, what);
    assert.deepEqual(Object.fromEntries(cut.parts), { 1: "one" });
    await cut.add(3, "three");
    const again = await Journal.open(journals, what);
    assert.deepEqual(Object.fromEntries(again.parts), { 1: "one", 3: "three" });
    await appendFile(path, "[4\n");
    assert.equal((await Journal.open(journals, what)).head, null);
    assert.deepEqual(await readdir(journals), []);
  });

  test("goes when the server has forgotten its upload", async () => {
    const journal = await Journal.open<object>(journals, what);
    await journal.begin({});
    const path = join(journals, (await readdir(journals))[0]!);
    const now = Date.now();
    await dropOldJournals(journals, now);
    assert.equal((await readdir(journals)).length, 1);
    const longAgo = new Date(now - 8 * 86_400_000);
    await utimes(path, longAgo, longAgo);
    await dropOldJournals(journals, now);
    assert.deepEqual(await readdir(journals), []);
    await dropOldJournals(join(journals, "none"), now);
  });

  test("lies in the user's cache folder", () => {
    assert.equal(journalFolder({ XDG_CACHE_HOME: "/c", HOME: "/h" }), "/c/selvedge/transfers");
    assert.equal(journalFolder({ HOME: "/h" }), "/h/.cache/selvedge/transfers");
  });
});

suite("what a put stores", async () => {
  const tree = join(folder, "tree");
  await mkdir(join(tree, "sub", "deep"), { recursive: true });
  for (const name of ["a.txt", "sub/b.txt", "sub/deep/c.txt"])
    await writeFile(join(tree, name), "x");
  await symlink(join(tree, "a.txt"), join(tree, "sub", "link"));
  await symlink(tree, join(tree, "sub", "circle"));
  const plan = async (key: string, files: string[], isRecursive = false) => {
    const { planned } = await planPut({ bucket: "b", key }, files, { cwd: tree, isRecursive });
    return planned.map((one) => one.key);
  };

  test("has the key that is given, or the file's name below a slash", async () => {
    assert.deepEqual(await plan("k", ["a.txt"]), ["k"]);
    assert.deepEqual(await plan("k/", ["a.txt"]), ["k/a.txt"]);
    assert.deepEqual(await plan("", ["a.txt", "sub/b.txt"]), ["a.txt", "b.txt"]);
  });

  test("of a folder has the paths in it; links to folders are not followed", async () => {
    const keys = ["a.txt", "sub/b.txt", "sub/deep/c.txt", "sub/link"];
    assert.deepEqual(await plan("", ["."], true), keys);
    assert.deepEqual(
      await plan("site", ["."], true),
      keys.map((key) => `site/${key}`),
    );
  });

  test("leaves out what it cannot store, and says why", async () => {
    const odd = join(folder, "odd");
    await mkdir(odd);
    await symlink(tree, join(odd, "circle"));
    await symlink(join(odd, "none"), join(odd, "lost"));
    await writeFile(Buffer.concat([Buffer.from(`${odd}/`), Buffer.from([0x78, 0xff])]), "x");
    await mkdir(Buffer.concat([Buffer.from(`${odd}/`), Buffer.from([0x79, 0xff])]));
    await writeFile(join(odd, "plain"), "x");
    const where = { cwd: odd, isRecursive: true };
    const { planned, skipped } = await planPut({ bucket: "b", key: "" }, ["."], where);
    assert.deepEqual(
      planned.map(({ key }) => key),
      ["plain"],
    );
    assert.deepEqual(
      skipped.map(({ path, why }) => `${path.slice(odd.length + 1)}: ${why}`),
      [
        "circle: it is a link to a folder",
        "lost: it is a link that leads nowhere",
        "x\uFFFD: its name is not UTF-8",
        "y\uFFFD: its name is not UTF-8",
      ],
    );
  });

  test("must be clear", async () => {
    await assert.rejects(
      planPut({ bucket: "a.txt", key: "" }, ["b/k"], { cwd: tree, isRecursive: false }),
      {
        message: "There is no file b/k. The target comes first: BUCKET/KEY, then FILE.",
        kind: "usage",
      },
    );
    await assert.rejects(plan("k", ["a.txt", "sub/b.txt"]), /End it with a slash: k\/\./);
    await assert.rejects(plan("k", ["sub"]), /sub is a folder. Give --recursive/);
    await assert.rejects(plan("k/", ["a.txt", "a.txt"]), /would both become k\/a\.txt/);
    await assert.rejects(plan("k", ["none"]), {
      message: "Cannot read none: there is no such file or folder.",
      kind: "not-found",
    });
  });
});

test("no key leads out of the folder that objects are fetched into", () => {
  assert.equal(pathBelow("/to", "a/b"), "/to/a/b");
  for (const name of ["../a", "a/../../b", "/etc/passwd", "a//b", ".", "", "a/", "x\0y"]) {
    assert.equal(pathBelow("/to", name), null, name);
  }
});
