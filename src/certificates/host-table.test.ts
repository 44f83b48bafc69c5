import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, NOW } from "./certificates.contract.ts";
import { HostTable } from "./host-table.ts";
import { blankCertificate, type Certificate } from "./model.ts";

let made = 0;
function certificate(hosts: string[], change: Partial<Certificate> = {}): Certificate {
  const identity = {
    id: String(++made),
    zoneId: "zone",
    type: "universal",
    createdAt: made,
  } as const;
  const [notBefore, notAfter] = [NOW - DAY_MS, NOW + DAY_MS];
  return { ...blankCertificate(identity), hosts, chain: "chain", notBefore, notAfter, ...change };
}

function tableOf(...certificates: Certificate[]): HostTable {
  const table = new HostTable();
  for (const one of certificates) table.add(one);
  return table;
}

test("a name goes before a wildcard, and a wildcard reaches one label", () => {
  const wide = certificate(["example.com", "*.example.com"], { type: "sni_custom" });
  const exact = certificate(["www.example.com"]);
  const table = tableOf(wide, exact);
  assert.equal(table.find("www.example.com", NOW), exact);
  assert.equal(table.find("api.example.com", NOW), wide);
  assert.equal(table.find("example.com", NOW), wide);
  assert.equal(table.find("a.api.example.com", NOW), null);
  assert.equal(table.find("com", NOW), null);
});

test("for the same name a user's goes first, then the higher priority, then the younger", () => {
  const hosts = ["example.com"];
  const universal = certificate(hosts);
  const advanced = certificate(hosts, { type: "advanced" });
  const low = certificate(hosts, { type: "sni_custom", priority: 1 });
  const high = certificate(hosts, { type: "sni_custom", priority: 2 });
  const young = certificate(hosts, { type: "sni_custom", priority: 2 });
  const legacy = certificate(hosts, { type: "legacy_custom" });
  const inOrder = [legacy, young, high, low, advanced, universal];
  const table = tableOf(universal, low, high, advanced, legacy, young);
  for (const one of inOrder) {
    assert.equal(table.find("example.com", NOW), one);
    table.remove(one);
  }
  assert.ok(table.isEmpty);
});

test("what has expired, or is not valid yet, or not issued, does not count", () => {
  const hosts = ["example.com"];
  const old = certificate(hosts, { type: "sni_custom", notAfter: NOW });
  const early = certificate(hosts, { type: "sni_custom", notBefore: NOW + 1 });
  const pending = certificate(hosts, { type: "advanced", chain: null });
  const good = certificate(hosts);
  const table = tableOf(old, early, pending, good);
  assert.equal(table.find("example.com", NOW), good);
  assert.equal(table.find("example.com", NOW - 1), old);
  assert.equal(table.find("example.com", NOW + 1), early);
});
