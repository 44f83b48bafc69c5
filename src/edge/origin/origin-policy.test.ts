import assert from "node:assert/strict";
import { test } from "node:test";
import { ranges } from "#kit/cidr.ts";
import { mayConnect, originPort, originScheme } from "./origin-policy.ts";

test("internal addresses are asked only where the operator allows them", () => {
  const policy = { allowed: ranges(["10.1.0.0/16", "fd00::/16"]) };
  const internal = [
    "127.0.0.1",
    "10.2.3.4",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "fe80::1",
    "fd12::1",
    "::ffff:127.0.0.1",
    "64:ff9b::a00:1",
    "224.0.0.1",
    "255.255.255.255",
  ];
  for (const address of internal) assert.equal(mayConnect(address, policy), false, address);
  for (const address of ["192.0.2.1", "2001:db8::1", "10.1.2.3", "fd00::1", "::ffff:10.1.2.3"])
    assert.equal(mayConnect(address, policy), true, address);
});

test("the port is the client's where that is one for the web, else the scheme's own", () => {
  assert.equal(originPort("http", "http", "a.example"), 80);
  assert.equal(originPort("https", "https", "a.example"), 443);
  assert.equal(originPort("http", "http", "a.example:8080"), 8080);
  assert.equal(originPort("https", "https", "a.example:8443"), 8443);
  assert.equal(originPort("http", "https", "a.example:8443"), 8080, "flexible");
  assert.equal(originPort("http", "https", "a.example"), 80);
  for (const port of ["22", "25", "6379", "8700", "65535", "443"])
    assert.equal(originPort("http", "http", `a.example:${port}`), 80, port);
  assert.equal(originPort("https", "https", "[::1]:9000"), 443);
});

test("the zone's ssl setting decides how the origin is asked", () => {
  assert.deepEqual(originScheme("off", "http"), { scheme: "http", verifies: false });
  assert.deepEqual(originScheme("flexible", "https"), { scheme: "http", verifies: false });
  assert.deepEqual(originScheme("full", "https"), { scheme: "https", verifies: false });
  assert.deepEqual(originScheme("full", "http"), { scheme: "http", verifies: false });
  assert.deepEqual(originScheme("strict", "https"), { scheme: "https", verifies: true });
});
