import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AccountFault } from "./fault.ts";
import { checkPolicy, permits, type Policy, type Resource, type Resources } from "./policy.ts";

const DNS_WRITE = "4755a26eedb94da69e1066d98aa820be";
const ZONE_READ = "c8fed203ed3043cba015a93ad1616f1f";
const ACCOUNT_READ = "c1fde68c7bcc44588cbb6ddbc16d6480";
const USER_READ = "8acbe5bb0d54464ab867149d7f7cf8ac";
const ITEM_READ = "6a018a9f2fc74eb6b293b0c548f38b39";

const [a, b, z, u] = ["a", "b", "c", "d"].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];
const account = (id: string) => `com.cloudflare.api.account.${id}`;
const zone = (id: string) => `com.cloudflare.api.account.zone.${id}`;
const inZone: Resource = { kind: "zone", zone: z, account: a };

function policy(effect: Policy["effect"], group: string, resources: Resources): Policy {
  return { id: "p", effect, groups: [group], resources };
}

suite("a policy", () => {
  const reach: [name: string, resources: Resources, resource: Resource, expected: boolean][] = [
    ["on a zone covers it", { [zone(z)]: "*" }, inZone, true],
    ["on another zone does not", { [zone(b)]: "*" }, inZone, false],
    ["on all zones covers it", { [zone("*")]: "*" }, inZone, true],
    ["on the account covers its zones", { [account(a)]: "*" }, inZone, true],
    ["on another account does not", { [account(b)]: "*" }, inZone, false],
    ["on all accounts covers it", { [account("*")]: "*" }, inZone, true],
    ["on all zones of the account covers it", { [account(a)]: { [zone("*")]: "*" } }, inZone, true],
    ["on all zones of another does not", { [account(b)]: { [zone("*")]: "*" } }, inZone, false],
    ["on a zone within the account covers it", { [account(a)]: { [zone(z)]: "*" } }, inZone, true],
  ];
  for (const [name, resources, resource, expected] of reach) {
    test(name, () => {
      assert.equal(
        permits([policy("allow", DNS_WRITE, resources)], "dns.edit", resource),
        expected,
      );
    });
  }

  test("on an account's zones does not cover the account itself", () => {
    const resources = { [account(a)]: { [zone("*")]: "*" as const } };
    assert.equal(
      permits([policy("allow", ACCOUNT_READ, resources)], "account.read", {
        kind: "account",
        account: a,
      }),
      false,
    );
  });

  test("on a user covers that user alone", () => {
    const mine = [policy("allow", USER_READ, { [`com.cloudflare.api.user.${u}`]: "*" })];
    assert.equal(permits(mine, "user.read", { kind: "user", user: u }), true);
    assert.equal(permits(mine, "user.read", { kind: "user", user: a }), false);
    assert.equal(permits(mine, "user.edit", { kind: "user", user: u }), false);
  });

  test("on a bucket covers its objects", () => {
    const key = `com.cloudflare.edge.r2.bucket.${a}_default_photos`;
    const mine = [policy("allow", ITEM_READ, { [key]: "*" })];
    assert.equal(
      permits(mine, "objects.read", { kind: "bucket", bucket: "photos", account: a }),
      true,
    );
    assert.equal(
      permits(mine, "objects.edit", { kind: "bucket", bucket: "photos", account: a }),
      false,
    );
    assert.equal(
      permits(mine, "objects.read", { kind: "bucket", bucket: "other", account: a }),
      false,
    );
  });
});

test("nothing is permitted unless granted, and a denial wins over any grant", () => {
  assert.equal(permits([], "dns.edit", inZone), false);
  const allow = policy("allow", DNS_WRITE, { [zone("*")]: "*" });
  const deny = policy("deny", DNS_WRITE, { [zone(z)]: "*" });
  assert.equal(permits([allow, deny], "dns.edit", inZone), false);
  assert.equal(permits([deny, allow], "dns.edit", inZone), false);
  assert.equal(permits([allow, deny], "dns.edit", { ...inZone, zone: b }), true);
});

test("every group on a zone shows the zone, and a reading group edits nothing", () => {
  const dns = [policy("allow", DNS_WRITE, { [zone(z)]: "*" })];
  assert.equal(permits(dns, "zone.read", inZone), true);
  assert.equal(permits(dns, "zone.edit", inZone), false);
  const read = [policy("allow", ZONE_READ, { [zone(z)]: "*" })];
  assert.equal(permits(read, "dns.read", inZone), false);
});

test("a policy that names what does not exist is refused with its place", () => {
  const refuse = (groups: string[], resources: Resources, pointer: string) =>
    assert.throws(
      () => checkPolicy({ effect: "allow", groups, resources }, ["policies", 0]),
      (error) =>
        error instanceof AccountFault && error.kind === "bad-policy" && error.pointer === pointer,
    );
  checkPolicy(
    { effect: "allow", groups: [DNS_WRITE], resources: { [account(a)]: { [zone("*")]: "*" } } },
    [],
  );
  refuse([DNS_WRITE, "nope"], { [zone(z)]: "*" }, "/policies/0/permission_groups/1/id");
  refuse([DNS_WRITE], { everything: "*" }, "/policies/0/resources/everything");
  refuse([DNS_WRITE], { [zone(z)]: { [zone(z)]: "*" } }, `/policies/0/resources/${zone(z)}`);
  refuse([DNS_WRITE], { [account(a)]: {} }, `/policies/0/resources/${account(a)}`);
});
