/** Nodes that share a database, each in step with what the others change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statement } from "#db";
import { until } from "../../test/support/patience.ts";
import {
  ACCOUNT,
  by,
  matchIn,
  onBothEngines,
  openRoutes,
  openScripts,
  silentLog,
  upload,
  ZONE,
} from "./scripts.contract.ts";

const log = silentLog();
const forgetLog = statement({ sql: "DELETE FROM script_log" });

onBothEngines("nodes", (db, open, engine) => {
  if (engine !== "postgres") {
    test("one process that has the database to itself follows nobody", async () => {
      const { scripts } = await openScripts(db());
      assert.equal(await scripts.followOthers({ log }), null);
    });
    return;
  }

  test("uploads on two nodes all count, and both hear which one is deployed", async () => {
    await using otherDb = await open();
    const here = await openScripts(db());
    const there = await openScripts(otherDb);
    await using following = new AsyncDisposableStack();
    following.use(await here.scripts.followOthers({ log }));
    following.use(await there.scripts.followOthers({ log }));
    const both = Array.from({ length: 5 }, (_, i) => [
      here.scripts.upload(ACCOUNT, "shared", upload(`here ${i}`), by),
      there.scripts.upload(ACCOUNT, "shared", upload(`there ${i}`), by),
    ]);
    const made = await Promise.all(both.flat());
    assert.equal(new Set(made.map(({ version }) => version.number)).size, 10);
    const script = await here.scripts.get(ACCOUNT, "shared");
    const lastOf = (node: typeof here) => node.heard.findLast(({ name }) => name === "shared");
    await until(() => lastOf(here)?.versionId === script.versionId);
    await until(() => lastOf(there)?.versionId === script.versionId);
    await there.scripts.remove(ACCOUNT, "shared", false);
    await until(() => lastOf(here)?.versionId === "removed");
  });

  test("routes, domains and subdomains reach the other node", async () => {
    await using otherDb = await open();
    const here = await openScripts(db());
    const there = await openScripts(otherDb);
    const routesHere = await openRoutes(db(), here.scripts);
    const routesThere = await openRoutes(otherDb, there.scripts);
    await using following = new AsyncDisposableStack();
    following.use(await there.scripts.followOthers({ log }));
    const { script } = await here.scripts.upload(ACCOUNT, "routed", upload(""), by);
    const { id: scriptId } = script;
    const input = { pattern: "example.com/a/*", script: "routed" };
    const route = await routesHere.add(ZONE, input);
    const domain = { hostname: "d.example.com", zoneId: ZONE, service: "routed" };
    await routesHere.putDomain(ACCOUNT, domain);
    await here.scripts.setOnSubdomain(ACCOUNT, "routed", true);
    await here.scripts.setSubdomain(ACCOUNT, "label");
    const at = (host: string, path: string) => matchIn(routesThere, ZONE, host, path);
    await until(() => there.scripts.onSubdomain("label", "routed") !== null);
    assert.deepEqual(at("example.com", "/a/b"), { scriptId });
    assert.deepEqual(at("d.example.com", "/"), { scriptId });
    await routesHere.edit(ZONE, route.id, { ...input, pattern: "example.com/b/*" });
    await until(() => at("example.com", "/a/b") === null);
    assert.deepEqual(at("example.com", "/b/b"), { scriptId });
    await here.scripts.remove(ACCOUNT, "routed", false);
    await until(() => at("example.com", "/b/b") === null);
    assert.equal(at("d.example.com", "/"), null);
  });

  test("a node that was away for longer than the log reaches back reads everything anew", async () => {
    await using otherDb = await open();
    const here = await openScripts(db());
    const kept = await here.scripts.upload(ACCOUNT, "kept", upload("1"), by);
    await here.scripts.upload(ACCOUNT, "gone", upload("1"), by);
    const there = await openScripts(otherDb);
    await here.scripts.remove(ACCOUNT, "gone", false);
    await here.scripts.upload(ACCOUNT, "kept", upload("2"), by);
    await db().write(forgetLog({}));
    const last = await here.scripts.upload(ACCOUNT, "new", upload("1"), by);
    await using following = new AsyncDisposableStack();
    following.use(await there.scripts.followOthers({ log }));
    await until(() => there.heard.some(({ versionId }) => versionId === last.version.id));
    assert.ok(
      there.heard.some(({ name, versionId }) => name === "gone" && versionId === "removed"),
    );
    const told = there.heard.findLast(({ name }) => name === "kept")?.versionId;
    assert.notEqual(told, kept.version.id);
    assert.equal(told, (await here.scripts.get(ACCOUNT, "kept")).versionId);
  });

  test("a change is heard far sooner than the next look, by its signal", async () => {
    await using otherDb = await open();
    const here = await openScripts(db());
    const there = await openScripts(otherDb);
    await using following = new AsyncDisposableStack();
    following.use(await there.scripts.followOthers({ log }));
    await here.scripts.upload(ACCOUNT, "warm", upload(""), by);
    await until(() => there.heard.some(({ name }) => name === "warm"));
    let quickest = Infinity;
    for (let i = 0; i < 10; i++) {
      const { version } = await here.scripts.upload(ACCOUNT, "warm", upload(`${i}`), by);
      const start = performance.now();
      await until(() => there.heard.some(({ versionId }) => versionId === version.id));
      quickest = Math.min(quickest, performance.now() - start);
    }
    assert.ok(quickest < 200, `took ${quickest} ms`); // The next look is after 250 ms.
  });
});
