import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Generations } from "#kit/generations.ts";
import type { Zone, ZoneRecord } from "#zones";
import { ProxiedNames } from "../proxied-names.ts";
import { FactSource, TOPIC } from "./fact-source.ts";

const NO_NAMES = new Map();

function zoneOf(name: string, serial = 1): Zone {
  return { id: `id of ${name}`, name, paused: false, serial, settings: {} } as Zone;
}

/** Two zones; `records` are those of a name. */
function open(records: Record<string, [type: string, content: string][]>) {
  const generations = new Generations();
  const names = new ProxiedNames({
    recordsAt: async (_zone, name) =>
      (records[name] ?? []).map(
        ([type, content]) => ({ type, content, proxied: true }) as ZoneRecord,
      ),
  });
  names.load([zoneOf("example.com"), zoneOf("example.org")]);
  const source = new FactSource({
    generations,
    names,
    routesOf: () => ({ routes: [], domains: [] }),
    ownScript: (hostname) => (hostname === "own.test" ? { scriptId: "s" } : null),
    isBucket: (hostname, zoneId) =>
      hostname === "www.example.com" && zoneId === "id of example.com",
    certificateFor: () => null,
    now: () => 0,
  });
  const stands = async (hostname: string, change: () => void) => {
    const { depends } = await source.host(hostname);
    change();
    return generations.stands(depends!);
  };
  return { source, stands, generations };
}

suite("what is told of a hostname", () => {
  const records: Parameters<typeof open>[0] = {
    "www.example.com": [["A", "192.0.2.1"]],
    "alias.example.com": [["CNAME", "WWW.example.org"]],
    "www.example.org": [["CNAME", "www.example.com"]],
    "far.example.com": [["CNAME", "elsewhere.test"]],
    "loop.example.com": [["CNAME", "loop.example.com"]],
  };

  test("is whether a bucket answers there, until domains of buckets change", async () => {
    const { source, stands, generations } = open(records);
    const isBucket = async (hostname: string) => {
      const { value } = await source.host(hostname);
      return value.kind === "name" && value.isBucket;
    };
    assert.equal(await isBucket("www.example.com"), true);
    assert.equal(await isBucket("alias.example.com"), false);
    const moved = () => generations.moved(TOPIC.buckets);
    assert.equal(await stands("www.example.com", moved), false);
  });

  test("is where its records lead, through zones here and out of them", async () => {
    const { source } = open(records);
    const origin = async (hostname: string) => {
      const { value } = await source.host(hostname);
      return value.kind === "name" ? value.origin : value.kind;
    };
    assert.deepEqual(await origin("www.example.com"), { addresses: ["192.0.2.1"] });
    assert.deepEqual(await origin("alias.example.com"), { addresses: ["192.0.2.1"] });
    assert.deepEqual(await origin("far.example.com"), { outside: "elsewhere.test" });
    assert.deepEqual(await origin("loop.example.com"), { addresses: [] });
    assert.equal(await origin("none.example.com"), null);
    assert.equal(await origin("own.test"), "script");
    assert.equal(await origin("other.test"), "unknown");
  });

  test("holds until a zone on the way changes, comes or goes", async () => {
    const { source, stands } = open(records);
    const change = (name: string) => () => source.changed(zoneOf(name, 2), NO_NAMES);
    assert.equal(await stands("www.example.com", change("example.org")), true);
    assert.equal(await stands("www.example.com", change("example.com")), false);
    assert.equal(await stands("alias.example.com", change("example.org")), false);
    assert.equal(await stands("other.test", change("example.com")), true);
    assert.equal(await stands("other.test", change("other.test")), false);
    assert.equal(await stands("other.test", () => source.removed(zoneOf("other.test"))), false);
  });

  test("has its zone's settings, and nothing of a zone that is gone", () => {
    const { source } = open(records);
    assert.equal(source.zone("example.com").value?.id, "id of example.com");
    source.removed(zoneOf("example.com"));
    assert.deepEqual(source.zone("example.com"), { value: null, depends: null });
  });
});
