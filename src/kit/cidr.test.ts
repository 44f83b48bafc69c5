import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeFault, ranges, source } from "./cidr.ts";

test("a range holds its addresses, in both families and in mapped form", () => {
  const set = ranges(["192.0.2.0/24", "2001:db8::/32", "203.0.113.7"]);
  for (const inside of ["192.0.2.255", "::ffff:192.0.2.1", "2001:db8:1::5", "203.0.113.7"]) {
    assert.equal(set.has(inside), true, inside);
  }
  for (const outside of ["192.0.3.0", "2001:db9::1", "203.0.113.8", "", "nonsense"]) {
    assert.equal(set.has(outside), false, outside);
  }
});

test("what is not a range is refused with the reason", () => {
  for (const good of ["0.0.0.0/0", "::/0", "10.0.0.1", "fe80::1/128"])
    assert.equal(rangeFault(good), null);
  assert.match(rangeFault("10.0.0.0/33")!, /prefix length from 0 to 32/);
  assert.match(rangeFault("::/129")!, /prefix length from 0 to 128/);
  for (const bad of ["", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8/8", "x/8", "10.0.0.0/-1"]) {
    assert.notEqual(rangeFault(bad), null, bad);
  }
});

test("limits count an IPv4 address alone and an IPv6 /64 as one source", () => {
  assert.equal(source("192.0.2.1"), "192.0.2.1");
  assert.equal(source("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(source("2001:db8:1:2:ffff::1"), "2001:db8:1:2::/64");
  assert.equal(source("2001:DB8::1"), "2001:db8:0:0::/64");
  assert.equal(source("::1"), "0:0:0:0::/64");
  assert.equal(source("fe80::1%eth0"), "fe80:0:0:0::/64");
});
