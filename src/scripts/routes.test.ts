/** Routes and custom domains on both engines. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { statement, text } from "#db";
import {
  ACCOUNT,
  by,
  is,
  matchIn,
  onBothEngines,
  openRoutes,
  openScripts,
  INNER_ZONE,
  OTHER_ACCOUNT,
  OTHER_ZONE,
  SECOND_ZONE,
  upload,
  ZONE,
} from "./scripts.contract.ts";

const removeZone = statement({ sql: "DELETE FROM zones WHERE id = :id", takes: { id: text } });
const addZone = statement({ sql: "INSERT INTO zones (id) VALUES (:id)", takes: { id: text } });

onBothEngines("routes", (db) => {
  /** Routes and a script of that name to lead to; what other tests left is gone. */
  async function start(name: string) {
    const { scripts } = await openScripts(db());
    const { script } = await scripts.upload(ACCOUNT, name, upload(""), by);
    const routes = await openRoutes(db(), scripts);
    for (const { id } of await routes.list(ZONE)) await routes.remove(ZONE, id);
    const at = (host: string, path = "/") => matchIn(routes, ZONE, host, path);
    return { scripts, routes, script, at };
  }

  test("a route leads to its script from when it is added until it is removed", async () => {
    const { routes, script, at } = await start("plain");
    const input = { pattern: "Example.com/a*", script: "plain" };
    const route = await routes.add(ZONE, input);
    assert.deepEqual(await routes.get(ZONE, route.id), { id: route.id, zoneId: ZONE, ...input });
    assert.deepEqual(await routes.list(ZONE), [route]);
    assert.deepEqual(at("example.com", "/a"), { scriptId: script.id });
    assert.equal(at("example.com", "/b"), null);
    assert.equal(matchIn(routes, SECOND_ZONE, "example.com", "/a"), null);
    await routes.edit(ZONE, route.id, { pattern: "example.com/b*", script: null });
    assert.equal(at("example.com", "/a"), null);
    assert.equal(at("example.com", "/b"), "none");
    await routes.remove(ZONE, route.id);
    assert.equal(at("example.com", "/b"), null);
    await assert.rejects(routes.get(ZONE, route.id), is("not-found"));
    await assert.rejects(routes.remove(ZONE, route.id), is("not-found"));
    await assert.rejects(routes.edit(ZONE, route.id, input), is("not-found"));
  });

  test("a zone has a pattern once, however it is spelt", async () => {
    const { routes, scripts, at } = await start("once");
    const first = await routes.add(ZONE, { pattern: "example.com/", script: "once" });
    const again = { pattern: "EXAMPLE.com", script: null };
    const exists = is("exists", /"EXAMPLE.com" already, which leads to the script once$/);
    await assert.rejects(routes.add(ZONE, again), exists);
    const other = await routes.add(ZONE, { pattern: "example.com/*", script: "once" });
    await assert.rejects(routes.edit(ZONE, other.id, again), exists);
    await routes.edit(ZONE, first.id, again);
    assert.equal(at("example.com"), "none");
    const together = await Promise.allSettled(
      Array.from({ length: 4 }, () => routes.add(ZONE, { pattern: "example.com/x", script: null })),
    );
    assert.equal(together.filter(({ status }) => status === "fulfilled").length, 1);
    const anew = await openRoutes(db(), scripts);
    assert.equal(matchIn(anew, ZONE, "example.com", "/"), "none");
    assert.notEqual(matchIn(anew, ZONE, "example.com", "/a"), null);
  });

  test("a route is refused for other zones' names and scripts that are not there", async () => {
    const { routes } = await start("refused");
    const add = (zone: string, pattern: string, script: string | null) =>
      routes.add(zone, { pattern, script });
    await assert.rejects(add(ZONE, "example.org/", null), is("invalid", /^pattern/));
    await assert.rejects(add(ZONE, "example.com/", "nope"), is("invalid", /^script: .*"nope"/));
    await assert.rejects(add(OTHER_ZONE, "other.example/", "refused"), is("invalid", /^script/));
    assert.deepEqual(await routes.list(ZONE), []);
  });

  test("a script that is removed takes its routes and domains along", async () => {
    const { routes, scripts, at } = await start("goes");
    await routes.add(ZONE, { pattern: "example.com/*", script: "goes" });
    const domain = { hostname: "goes.example.com", zoneId: ZONE, service: "goes" };
    await routes.putDomain(ACCOUNT, domain);
    await scripts.remove(ACCOUNT, "goes", false);
    assert.equal(at("example.com"), null);
    assert.equal(at("goes.example.com"), null);
    assert.deepEqual(await routes.list(ZONE), []);
    assert.deepEqual(await routes.domains(ACCOUNT, { service: "goes" }), []);
  });

  test("a zone that is removed takes its routes and domains along", async () => {
    const { routes, scripts } = await start("stays");
    await routes.add(SECOND_ZONE, { pattern: "example.org/*", script: "stays" });
    await routes.putDomain(ACCOUNT, {
      hostname: "stays.example.org",
      zoneId: SECOND_ZONE,
      service: "stays",
    });
    await db().write(removeZone({ id: SECOND_ZONE }));
    routes.removeZone(SECOND_ZONE);
    for (const one of [routes, await openRoutes(db(), scripts)]) {
      assert.equal(matchIn(one, SECOND_ZONE, "example.org", "/"), null);
      assert.equal(matchIn(one, SECOND_ZONE, "stays.example.org", "/"), null);
      assert.deepEqual(await one.list(SECOND_ZONE), []);
    }
    await db().write(addZone({ id: SECOND_ZONE }));
  });

  test("the routes of a script are set all together or not at all", async () => {
    const { routes, scripts, at } = await start("set");
    await scripts.upload(ACCOUNT, "other", upload(""), by);
    await routes.add(ZONE, { pattern: "example.com/other", script: "other" });
    const kept = await routes.add(ZONE, { pattern: "example.com/kept", script: "set" });
    await routes.add(ZONE, { pattern: "example.com/gone", script: "set" });
    const wish = (...patterns: readonly string[]) =>
      routes.setForScript(
        ACCOUNT,
        "set",
        patterns.map((pattern) => ({ zoneId: ZONE, pattern })),
      );
    await assert.rejects(wish("example.com/new", "example.com/other"), is("exists", /other/));
    await assert.rejects(wish("example.com/new", "example.net/"), is("invalid"));
    assert.equal(at("example.com", "/new"), null);
    assert.notEqual(at("example.com", "/gone"), null);
    const made = await wish("example.com/new", "example.com/kept", "example.com/new");
    assert.deepEqual(
      made.map(({ pattern }) => pattern),
      ["example.com/kept", "example.com/new"],
    );
    assert.equal(made[0]?.id, kept.id);
    assert.equal(at("example.com", "/gone"), null);
    assert.notEqual(at("example.com", "/new"), null);
    assert.deepEqual(await wish(), []);
    assert.equal((await routes.list(ZONE)).length, 1);
  });

  suite("a custom domain", () => {
    test("is not another account's to take, and keeps leading where it did", async () => {
      const { routes, scripts, script, at } = await start("owned");
      const hostname = "a.within.example.com";
      await scripts.upload(OTHER_ACCOUNT, "thief", upload(""), by);
      const mine = await routes.putDomain(ACCOUNT, { hostname, zoneId: ZONE, service: "owned" });
      const theirs = { hostname, zoneId: INNER_ZONE, service: "thief" };
      const taken = is("exists", /"a\.within\.example\.com" is a script's of another account/);
      await assert.rejects(routes.putDomain(OTHER_ACCOUNT, theirs), taken);
      assert.deepEqual(await routes.domain(ACCOUNT, mine.id), mine);
      assert.deepEqual(at(hostname), { scriptId: script.id });
      assert.equal(matchIn(routes, INNER_ZONE, hostname, "/"), null);
      await routes.removeDomain(ACCOUNT, mine.id);
      await routes.putDomain(OTHER_ACCOUNT, theirs);
    });

    test("of a script that goes meanwhile is not made", async () => {
      const { routes, scripts, script } = await start("going");
      const get = scripts.get.bind(scripts);
      scripts.get = async () => {
        await scripts.remove(ACCOUNT, "going", true).catch(() => {});
        return script;
      };
      const input = { hostname: "going.example.com", zoneId: ZONE, service: "going" };
      await assert.rejects(routes.putDomain(ACCOUNT, input), is("not-found", /gone meanwhile/));
      scripts.get = get;
      assert.deepEqual(await routes.domains(ACCOUNT, { hostname: input.hostname }), []);
    });

    test("is a script's whole hostname, over which routes go first", async () => {
      const { routes, scripts, script, at } = await start("domain");
      const { id: scriptId } = script;
      const input = { hostname: "D.example.com", zoneId: ZONE, service: "domain" };
      const domain = await routes.putDomain(ACCOUNT, input);
      assert.equal(domain.hostname, "d.example.com");
      assert.equal(domain.environment, "production");
      assert.deepEqual(await routes.domain(ACCOUNT, domain.id), domain);
      assert.deepEqual(at("d.example.com", "/any?thing"), { scriptId });
      assert.equal(at("e.d.example.com"), null);
      const other = await scripts.upload(ACCOUNT, "before", upload(""), by);
      const route = { pattern: "*d.example.com/a/*", script: "before" };
      const { id } = await routes.add(ZONE, route);
      assert.deepEqual(at("d.example.com", "/a/b"), { scriptId: other.script.id });
      assert.deepEqual(at("d.example.com", "/b"), { scriptId });
      await routes.edit(ZONE, id, { ...route, script: null });
      assert.deepEqual(at("d.example.com", "/a/b"), { scriptId }, "past routes lies the domain");
      assert.equal(at("xd.example.com", "/a/b"), "none");
      const moved = await routes.putDomain(ACCOUNT, { ...input, service: "before" });
      assert.equal(moved.id, domain.id);
      assert.deepEqual(at("d.example.com", "/b"), { scriptId: other.script.id });
      assert.deepEqual(await routes.domains(ACCOUNT, { service: "domain" }), []);
      assert.deepEqual(await routes.domains(ACCOUNT, { hostname: "d.example.com" }), [moved]);
      await assert.rejects(routes.removeDomain(OTHER_ACCOUNT, domain.id), is("not-found"));
      await routes.removeDomain(ACCOUNT, domain.id);
      assert.equal(at("d.example.com", "/b"), null);
    });

    test("lies in a zone of the account, and its script is there", async () => {
      const { routes } = await start("place");
      const put = (hostname: string, zoneId = ZONE, service = "place") =>
        routes.putDomain(ACCOUNT, { hostname, zoneId, service });
      for (const hostname of ["example.org", "*.example.com", ".example.com", "a b.example.com"]) {
        await assert.rejects(put(hostname), is("invalid", /^hostname/), hostname);
      }
      await assert.rejects(put("a.other.example", OTHER_ZONE), is("invalid", /^zone_id/));
      await assert.rejects(put("a.example.com", ZONE, "nope"), is("invalid", /^service/));
    });
  });
});
