/** Scripts on both engines: uploads, versions, deployments, secrets. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bytes, type Database, DatabaseFault, integer, statement, text } from "#db";
import type { Binding } from "./model.ts";
import {
  ACCOUNT,
  BUCKET,
  by,
  codeOf,
  content,
  is,
  octets,
  onBothEngines,
  openScripts,
  OTHER_ACCOUNT,
  START_MS,
  textOf,
  textsOf,
  upload,
} from "./scripts.contract.ts";

const count = (table: string) =>
  statement({
    sql: `SELECT COUNT(*) FROM ${table} WHERE script_id = :scriptId`,
    takes: { scriptId: text },
    gives: { rows: integer },
  });
const rowsOf = {
  script_versions: count("script_versions"),
  script_parts: count("script_parts"),
  script_secrets: count("script_secrets"),
  script_deployments: count("script_deployments"),
};
const secretRows = statement({
  sql: "SELECT id, sealed FROM script_secrets WHERE script_id = :scriptId",
  takes: { scriptId: text },
  gives: { id: text, sealed: bytes },
});
const swapSecret = statement({
  sql: "UPDATE script_secrets SET sealed = :sealed WHERE script_id = :scriptId AND id = :id",
  takes: { scriptId: text, id: text, sealed: bytes },
});

const secret = (name: string, text: string): Binding => ({ type: "secret", name, text });
const SECRETS = new Set<Binding["type"]>(["secret"]);

onBothEngines("scripts", (db) => {
  const rows = async (table: keyof typeof rowsOf, scriptId: string) =>
    (await db().first(rowsOf[table]({ scriptId })))!.rows;

  suite("an upload", () => {
    test("is checked, kept, deployed and told before it resolves", async () => {
      const { scripts, checked, heard } = await openScripts(db());
      const { script, version } = await scripts.upload(ACCOUNT, "first", upload("one"), by);
      assert.deepEqual(await scripts.get(ACCOUNT, "first"), script);
      assert.equal(script.versionId, version.id);
      assert.equal(version.number, 1);
      assert.equal(checked[0]?.versionId, version.id, "the process that was started is the one");
      assert.equal(checked[0]?.id, script.id);
      assert.deepEqual(heard, [{ name: "first", versionId: version.id }]);
      assert.equal(await codeOf(scripts, script), "one");
      const [deployment] = await scripts.deployments(ACCOUNT, "first");
      assert.equal(deployment?.versionId, version.id);
      assert.equal(deployment?.author, by.author);
    });

    test("of a script that is there keeps its id and counts on", async () => {
      const { scripts } = await openScripts(db());
      const { script } = await scripts.upload(ACCOUNT, "again", upload("one"), by);
      const second = await scripts.upload(ACCOUNT, "again", upload("two"), by);
      assert.equal(second.script.id, script.id);
      assert.equal(second.version.number, 2);
      assert.ok(second.script.revision > script.revision);
      assert.equal(await codeOf(scripts, script), "two");
    });

    test("that does not start changes nothing and passes the compiler's words on", async () => {
      const { scripts, heard } = await openScripts(db());
      const broken = scripts.upload(ACCOUNT, "broken", upload("broken"), by);
      await assert.rejects(broken, is("does-not-start", /SyntaxError/));
      await assert.rejects(scripts.get(ACCOUNT, "broken"), is("not-found"));
      const { script } = await scripts.upload(ACCOUNT, "broken", upload("whole"), by);
      await assert.rejects(scripts.upload(ACCOUNT, "broken", upload("broken"), by));
      assert.deepEqual(await scripts.get(ACCOUNT, "broken"), script);
      assert.equal(heard.length, 1);
    });

    test("that the database does not take is told to nobody, and the next one goes on", async () => {
      let isFull = true;
      const noRoom = new DatabaseFault("full", "no room");
      const full = new Proxy(db(), {
        get: (target, name: keyof Database) => {
          if (name === "write" && isFull) return () => Promise.reject(noRoom);
          const value = target[name];
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const { scripts, heard } = await openScripts(full);
      const both = [1, 2].map(() => scripts.upload(ACCOUNT, "full", upload("one"), by));
      for (const one of both) await assert.rejects(one, /no room/);
      assert.deepEqual(heard, []);
      await assert.rejects(scripts.get(ACCOUNT, "full"), is("not-found"));
      isFull = false;
      assert.equal((await scripts.upload(ACCOUNT, "full", upload("one"), by)).version.number, 1);
    });

    test("keeps every kind of module and binding as it was given", async () => {
      const { scripts } = await openScripts(db());
      const bindings: Binding[] = [
        { type: "text", name: "TEXT", text: 'ä"\n' },
        { type: "json", name: "JSON", json: { a: [1, null] } },
        secret("SECRET", "s3cret"),
        { type: "bucket", name: "BUCKET", bucketName: BUCKET, keepsDelimiter: true },
        { type: "service", name: "SELF", service: "kinds", entrypoint: "Other" },
        { type: "data", name: "DATA", data: octets("data") },
        { type: "wasm", name: "WASM", data: octets("wasm") },
        { type: "version", name: "VERSION" },
      ];
      const modules = (
        ["esm", "commonjs", "text", "data", "wasm", "json", "sourcemap"] as const
      ).map((type) => ({ name: `lib/${type}`, type, content: octets(type) }));
      const given = content("", bindings, { main: "lib/esm", modules });
      const { script, version } = await scripts.upload(ACCOUNT, "kinds", { content: given }, by);
      const runs = (await scripts.runnable(script.id))!;
      for (const [i, binding] of runs.bindings.entries()) {
        if (!("data" in binding)) assert.deepEqual(binding, bindings[i]);
        else assert.equal(textOf(binding.data), binding.type);
      }
      assert.deepEqual(
        runs.modules.map((module) => ({ ...module, content: new Uint8Array(module.content) })),
        modules,
      );
      const shown = await scripts.version(ACCOUNT, "kinds", version.id);
      assert.equal(shown.startMs, START_MS);
      assert.ok(!JSON.stringify(shown).includes("s3cret"));
      assert.deepEqual(shown.bindings[2], { type: "secret", name: "SECRET" });
      assert.equal(shown.modules[0]?.size, 3);
    });

    test("shares what earlier versions have already", async () => {
      const { scripts } = await openScripts(db());
      const library = { name: "library.js", type: "esm", content: octets("library") } as const;
      const of = (code: string) => {
        const one = content(code);
        return { content: { ...one, modules: [...one.modules, library] } };
      };
      const { script } = await scripts.upload(ACCOUNT, "shares", of("one"), by);
      await scripts.upload(ACCOUNT, "shares", of("two"), by);
      assert.equal(await rows("script_parts", script.id), 3);
    });

    test("keeps and inherits bindings of the latest version, but not those given anew", async () => {
      const { scripts } = await openScripts(db());
      const bindings = [
        secret("A", "a"),
        secret("B", "b"),
        { type: "text", name: "C", text: "c" } as const,
        { type: "text", name: "D", text: "d" } as const,
      ];
      await scripts.upload(ACCOUNT, "keeps", upload("one", bindings), by);
      const next = {
        ...upload("two", [secret("B", "new")]),
        keepBindings: SECRETS,
        inherit: ["D"],
      };
      const { script } = await scripts.upload(ACCOUNT, "keeps", next, by);
      const runs = (await scripts.runnable(script.id))!;
      assert.deepEqual(textsOf(runs), { A: "a", B: "new", D: "d" });
      const missing = { ...upload("three"), inherit: ["NOPE"] };
      await assert.rejects(
        scripts.upload(ACCOUNT, "keeps", missing, by),
        is("invalid", /"NOPE" cannot be inherited/),
      );
    });

    test("of the version in place keeps what that has, whatever was uploaded since", async () => {
      const { scripts } = await openScripts(db());
      const named = (text: string) => upload("one", [{ type: "text", name: "T", text }]);
      const { script } = await scripts.upload(ACCOUNT, "in-place", named("deployed"), by);
      await scripts.addVersion(ACCOUNT, "in-place", named("draft"), by);
      const next = { ...upload("two"), inherit: ["T"], isOfDeployed: true };
      await scripts.upload(ACCOUNT, "in-place", next, by);
      assert.deepEqual(textsOf((await scripts.runnable(script.id))!), { T: "deployed" });
      assert.equal(await codeOf(scripts, script), "two");
    });

    test("must name buckets and scripts of the account", async () => {
      const { scripts } = await openScripts(db());
      const bucket = (bucketName: string): Binding => {
        return { type: "bucket", name: "B", bucketName, keepsDelimiter: false };
      };
      const service = (service: string): Binding => {
        return { type: "service", name: "S", service, entrypoint: null };
      };
      const text: Binding = { type: "text", name: "T", text: "" };
      await assert.rejects(
        scripts.upload(ACCOUNT, "names", upload("", [text, bucket("nope")]), by),
        is("invalid", /^bindings\[1\]\.bucket_name: there is no bucket "nope"/),
      );
      await assert.rejects(
        scripts.upload(OTHER_ACCOUNT, "names", upload("", [bucket(BUCKET)]), by),
        is("invalid", /no bucket/),
      );
      await assert.rejects(
        scripts.upload(ACCOUNT, "names", upload("", [service("nope")]), by),
        is("invalid", /^bindings\[0\]\.service: there is no script "nope"/),
      );
      await scripts.upload(ACCOUNT, "names", upload("", [bucket(BUCKET), service("names")]), by);
    });

    test("made together with others gets a number of its own, and the last one is deployed", async () => {
      const { scripts } = await openScripts(db());
      const codes = Array.from({ length: 8 }, (_, i) => `code ${i}`);
      const made = await Promise.all(
        codes.map((code) => scripts.upload(ACCOUNT, "together", upload(code), by)),
      );
      const numbers = made.map(({ version }) => version.number);
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        [1, 2, 3, 4, 5, 6, 7, 8],
      );
      const script = await scripts.get(ACCOUNT, "together");
      const last = made[numbers.indexOf(8)]!;
      assert.equal(script.versionId, last.version.id);
      assert.equal(await codeOf(scripts, script), codes[numbers.indexOf(8)]);
    });

    test("is refused beyond the number of scripts, the old ones can still be changed", async () => {
      const limits = { scriptsPerAccount: 2 };
      const { scripts } = await openScripts(db(), { limits });
      const before = (await scripts.list(OTHER_ACCOUNT)).length;
      for (let i = before; i < 2; i++) {
        await scripts.upload(OTHER_ACCOUNT, `fill-${i}`, upload(""), by);
      }
      const third = scripts.upload(OTHER_ACCOUNT, "third", upload(""), by);
      await assert.rejects(third, is("too-large", /at most 2 scripts/));
      await scripts.upload(OTHER_ACCOUNT, "fill-1", upload("more"), by);
    });
  });

  suite("a version", () => {
    test("that is only added does not run until it is deployed", async () => {
      const { scripts, checked } = await openScripts(db());
      const { script } = await scripts.upload(ACCOUNT, "later", upload("one"), by);
      const given = { ...upload("two"), message: "try it", tag: "v2" };
      const version = await scripts.addVersion(ACCOUNT, "later", given, by);
      assert.equal(version.message, "try it");
      assert.equal(await codeOf(scripts, script), "one");
      const deployed = await scripts.deploy(ACCOUNT, "later", version.id, by, "go");
      assert.equal(await codeOf(scripts, script), "two");
      assert.equal(checked.at(-1)?.versionId, version.id);
      assert.equal(checked.at(-1)?.tag, "v2");
      const deployments = await scripts.deployments(ACCOUNT, "later");
      assert.deepEqual(deployments[0], deployed);
      assert.equal(deployments.length, 2);
      const unknown = scripts.deploy(ACCOUNT, "later", "nope", by);
      await assert.rejects(unknown, is("not-found", /version "nope"/));
    });

    test("of a script that was never deployed does not run", async () => {
      const { scripts } = await openScripts(db());
      const version = await scripts.addVersion(ACCOUNT, "draft", upload("one"), by);
      const script = await scripts.get(ACCOUNT, "draft");
      assert.equal(script.versionId, null);
      assert.equal(await scripts.runnable(script.id), null);
      const put = scripts.putSecrets(ACCOUNT, "draft", new Map([["A", "a"]]), by);
      await assert.rejects(put, is("invalid", /deploy one first/));
      await scripts.deploy(ACCOUNT, "draft", version.id, by);
      assert.equal((await scripts.runnableByName(ACCOUNT, "draft"))?.versionId, version.id);
    });

    test("is dropped when there are too many, with all that no other needs", async () => {
      const { scripts } = await openScripts(db(), { limits: { versionsPerScript: 3 } });
      const { script, version } = await scripts.upload(
        ACCOUNT,
        "many",
        upload("first", [secret("A", "first")]),
        by,
      );
      for (const code of ["2", "3", "4"]) {
        await scripts.addVersion(ACCOUNT, "many", upload(code, [secret("A", code)]), by);
      }
      await scripts.addVersion(ACCOUNT, "many", { ...upload("5"), keepBindings: SECRETS }, by);
      const { versions, total } = await scripts.versions(ACCOUNT, "many", { offset: 0, limit: 10 });
      assert.deepEqual(
        versions.map(({ number }) => number),
        [5, 4, 3, 1],
        "the deployed one stays",
      );
      assert.equal(total, 4);
      assert.equal(await rows("script_parts", script.id), 4);
      assert.equal(await rows("script_secrets", script.id), 3, "the fifth has the fourth's");
      assert.equal((await scripts.runnable(script.id))?.versionId, version.id);
      await scripts.deploy(ACCOUNT, "many", versions[0]!.id, by);
      await scripts.addVersion(ACCOUNT, "many", upload("6"), by);
      await assert.rejects(scripts.version(ACCOUNT, "many", version.id), is("not-found"));
      assert.deepEqual(textsOf((await scripts.runnable(script.id))!), { A: "4" });
    });

    test("page of versions starts with the newest", async () => {
      const { scripts } = await openScripts(db());
      for (const code of ["1", "2", "3"])
        await scripts.addVersion(ACCOUNT, "page", upload(code), by);
      const page = await scripts.versions(ACCOUNT, "page", { offset: 1, limit: 1 });
      assert.deepEqual(
        page.versions.map(({ number }) => number),
        [2],
      );
      assert.equal(page.total, 3);
    });
  });

  suite("a secret", () => {
    test("makes a version of the deployed one, and a rollback brings the old value back", async () => {
      const { scripts } = await openScripts(db());
      const { script } = await scripts.upload(ACCOUNT, "secrets", upload("one"), by);
      const put = (name: string, text: string | null) =>
        scripts.putSecrets(ACCOUNT, "secrets", new Map([[name, text]]), by);
      const first = await put("KEY", "old");
      await put("KEY", "new");
      await put("OTHER", "x");
      assert.deepEqual(textsOf((await scripts.runnable(script.id))!), { KEY: "new", OTHER: "x" });
      assert.deepEqual(await scripts.secretNames(ACCOUNT, "secrets"), ["KEY", "OTHER"]);
      await put("OTHER", null);
      assert.deepEqual(await scripts.secretNames(ACCOUNT, "secrets"), ["KEY"]);
      await assert.rejects(put("OTHER", null), is("not-found", /secret "OTHER"/));
      await scripts.deploy(ACCOUNT, "secrets", first.id, by);
      assert.deepEqual(textsOf((await scripts.runnable(script.id))!), { KEY: "old" });
      assert.equal(await rows("script_parts", script.id), 1, "the code is kept once");
    });

    test("cannot take the name of another binding, nor one that JavaScript does not have", async () => {
      const { scripts } = await openScripts(db());
      const text: Binding = { type: "text", name: "TAKEN", text: "" };
      await scripts.upload(ACCOUNT, "taken", upload("one", [text]), by);
      const put = (name: string) =>
        scripts.putSecrets(ACCOUNT, "taken", new Map([[name, "x"]]), by);
      await assert.rejects(put("TAKEN"), is("exists"));
      await assert.rejects(put("not-a-name"), is("invalid", /JavaScript identifier/));
      await assert.rejects(put("A".repeat(300)), is("invalid"));
      await assert.rejects(
        scripts.putSecrets(ACCOUNT, "taken", new Map([["BIG", "x".repeat(70_000)]]), by),
        is("too-large"),
      );
    });

    test("is sealed in the database and cannot be exchanged for another", async () => {
      const { scripts } = await openScripts(db());
      const given = upload("one", [secret("A", "treasure"), secret("B", "trinket")]);
      const { script } = await scripts.upload(ACCOUNT, "sealed", given, by);
      const [a, b] = await db().all(secretRows({ scriptId: script.id }));
      assert.ok(!textOf(a!.sealed).includes("treasure") && !textOf(b!.sealed).includes("treasure"));
      await db().write(swapSecret({ scriptId: script.id, id: a!.id, sealed: b!.sealed }));
      await assert.rejects(scripts.runnable(script.id), /cannot be opened/);
    });

    test("put while others upload is never lost", async () => {
      const { scripts } = await openScripts(db());
      const { script } = await scripts.upload(ACCOUNT, "race", upload("0"), by);
      await Promise.all([
        scripts.putSecrets(ACCOUNT, "race", new Map([["A", "a"]]), by),
        scripts.upload(ACCOUNT, "race", { ...upload("1"), keepBindings: SECRETS }, by),
        scripts.putSecrets(ACCOUNT, "race", new Map([["B", "b"]]), by),
        scripts.upload(ACCOUNT, "race", { ...upload("2"), keepBindings: SECRETS }, by),
      ]);
      assert.deepEqual(textsOf((await scripts.runnable(script.id))!), { A: "a", B: "b" });
      assert.equal(await codeOf(scripts, script), "2");
    });
  });

  test("an edit of bindings or compatibility makes a version, one of settings does not", async () => {
    const { scripts } = await openScripts(db());
    const { script } = await scripts.upload(ACCOUNT, "edit", upload("one", [secret("A", "a")]), by);
    const tagged = await scripts.edit(ACCOUNT, "edit", { settings: { tags: ["x"] } }, by);
    assert.equal(tagged.versionId, script.versionId);
    assert.deepEqual(tagged.settings, { tags: ["x"], logpush: false, observability: null });
    const text: Binding = { type: "text", name: "T", text: "t" };
    const edit = { bindings: [text], inherit: ["A"], compatibilityFlags: ["nodejs_compat"] };
    const edited = await scripts.edit(ACCOUNT, "edit", edit, by);
    assert.notEqual(edited.versionId, script.versionId);
    const runs = (await scripts.runnable(script.id))!;
    assert.deepEqual(textsOf(runs), { T: "t", A: "a" });
    assert.deepEqual(runs.compatibilityFlags, ["nodejs_compat"]);
    assert.equal(await codeOf(scripts, script), "one");
    const wrong = scripts.edit(ACCOUNT, "edit", { compatibilityDate: "2026-13-01" }, by);
    await assert.rejects(wrong, is("invalid", /^compatibility_date/));
  });

  test("a script that others bind goes only by force, and takes all its rows along", async () => {
    const { scripts, heard } = await openScripts(db());
    const given = upload("one", [secret("A", "a")]);
    const { script } = await scripts.upload(ACCOUNT, "bound", given, by);
    const service = { type: "service", name: "S", service: "bound", entrypoint: null } as const;
    await scripts.upload(ACCOUNT, "user", upload("", [service]), by);
    await assert.rejects(scripts.remove(ACCOUNT, "bound", false), is("in-use", /by user$/));
    await scripts.remove(ACCOUNT, "bound", true);
    assert.deepEqual(heard.at(-1), { name: "bound", versionId: "removed" });
    assert.equal(await scripts.runnable(script.id), null);
    for (const table of Object.keys(rowsOf) as (keyof typeof rowsOf)[]) {
      assert.equal(await rows(table, script.id), 0, table);
    }
    await assert.rejects(scripts.remove(ACCOUNT, "bound", true), is("not-found"));
    const again = await scripts.upload(ACCOUNT, "bound", upload("two"), by);
    assert.notEqual(again.script.id, script.id);
    assert.equal(again.version.number, 1);
  });

  test("scripts are of one account only", async () => {
    const { scripts } = await openScripts(db());
    await scripts.upload(ACCOUNT, "mine", upload("one"), by);
    await assert.rejects(scripts.get(OTHER_ACCOUNT, "mine"), is("not-found"));
    const names = (await scripts.list(OTHER_ACCOUNT)).map(({ name }) => name);
    assert.ok(!names.includes("mine"));
  });

  test("a subdomain leads to the scripts that are deployed and on it", async () => {
    const { scripts } = await openScripts(db());
    const label = await scripts.subdomain(ACCOUNT);
    assert.equal(await scripts.subdomain(ACCOUNT), label);
    const { script } = await scripts.upload(ACCOUNT, "sub", upload("one"), by);
    assert.equal(scripts.onSubdomain(label, "sub"), null);
    await scripts.setOnSubdomain(ACCOUNT, "sub", true);
    assert.deepEqual(scripts.onSubdomain(label, "sub"), { scriptId: script.id });
    await scripts.setSubdomain(ACCOUNT, "mine");
    assert.equal(scripts.onSubdomain(label, "sub"), null);
    assert.deepEqual(scripts.onSubdomain("mine", "sub"), { scriptId: script.id });
    await assert.rejects(scripts.setSubdomain(OTHER_ACCOUNT, "mine"), is("exists"));
    await assert.rejects(scripts.setSubdomain(ACCOUNT, "-bad"), is("invalid", /^subdomain/));
    assert.deepEqual((await openScripts(db())).scripts.onSubdomain("mine", "sub"), {
      scriptId: script.id,
    });
    await scripts.setOnSubdomain(ACCOUNT, "sub", false);
    assert.equal(scripts.onSubdomain("mine", "sub"), null);
  });
});
