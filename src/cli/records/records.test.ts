import assert from "node:assert/strict";
import { test } from "node:test";
import { styles } from "../style.ts";
import type { Zone } from "../zones/zone.ts";
import { changeLines, showDryRun } from "./change.ts";
import { bodyOf, recordOptions } from "./fields.ts";
import { type DnsRecord, fullName, recordLine } from "./record.ts";

const zone = { name: "example.com" } as Zone;
const www: DnsRecord = {
  id: "1",
  name: "www.example.com",
  type: "A",
  content: "192.0.2.1",
  ttl: 1,
  proxied: false,
  comment: null,
  tags: [],
};
const plain = styles({}, {});

test("a name is written as in a zone file", () => {
  const names = ["@", "example.com", "www", "WWW.Example.com.", "a.b", "www.example.com"];
  assert.deepEqual(
    names.map((name) => fullName(name, zone)),
    [
      "example.com",
      "example.com",
      "www.example.com",
      "www.example.com",
      "a.b.example.com",
      "www.example.com",
    ],
  );
});

test("a name may be in any script, as its zone may", () => {
  const zone = { name: "xn--bcher-kva.example" } as Zone;
  assert.equal(fullName("*.Bücher.example", zone), "*.xn--bcher-kva.example");
  assert.equal(fullName("_dmarc.bücher.example.", zone), "_dmarc.xn--bcher-kva.example");
  assert.equal(fullName("größe", zone), "xn--gre-6ka8i.xn--bcher-kva.example");
});

test("a record is one line with all that it has", () => {
  assert.equal(recordLine(www), "www.example.com auto A 192.0.2.1");
  const full = { ...www, ttl: 60, priority: 10, proxied: true, comment: "note", tags: ["a:b"] };
  assert.equal(recordLine(full), "www.example.com 60 A 10 192.0.2.1 proxied ; note [a:b]");
});

test("a difference has a line for what goes and one for what comes", () => {
  const after = { ...www, content: "192.0.2.2" };
  const changes = [
    { action: "update", before: www, after } as const,
    { action: "create", before: null, after: { ...www, name: "new.example.com" } } as const,
  ];
  assert.deepEqual(changeLines(changes, plain).split("\n"), [
    "- www.example.com auto A 192.0.2.1",
    "+ www.example.com auto A 192.0.2.2",
    "+ new.example.com auto A 192.0.2.1",
  ]);
  const dry = { dry_run: true, serial: 1, changes } as const;
  assert.match(showDryRun(dry, plain), /\n1 to add, 1 to change\. Nothing has changed\.$/);
  assert.equal(showDryRun({ ...dry, changes: [] }, plain), "Nothing would change.");
});

test("options become the body that says only what is given", () => {
  const none = { ttl: undefined, proxied: undefined, priority: undefined, comment: undefined };
  assert.deepEqual(bodyOf({ ...none, tag: [], fields: undefined }), {});
  const given = { ttl: 60, proxied: false, priority: 0, comment: "", tag: [""], fields: '{"a":1}' };
  assert.deepEqual(bodyOf(given), {
    ttl: 60,
    proxied: false,
    priority: 0,
    comment: null,
    tags: [],
    data: { a: 1 },
  });
  for (const fields of ["[1]", "null", "{"]) {
    assert.throws(() => bodyOf({ ...none, tag: [], fields }), /Cannot read --fields/);
  }
});

test("a TTL is automatic or within the limits", () => {
  const { read } = recordOptions.ttl;
  assert.deepEqual(["auto", "1", "30", "86400"].map(read!), [1, 1, 30, 86_400]);
  for (const wrong of ["0", "29", "86401", "1.5", "x", ""]) assert.throws(() => read!(wrong));
});
