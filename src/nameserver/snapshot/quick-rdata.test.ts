import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { recordType } from "#dns";
import { quickRdata } from "./quick-rdata.ts";

/** What the record's own type makes of the content that it shows. */
function bothWays(typeName: string, content: string, priority?: number): void {
  const type = recordType(typeName)!;
  const data = type.api.accept({ content, ...(priority !== undefined && { priority }) });
  const shown = type.api.show(data);
  const quick = quickRdata({
    type: typeName,
    content: shown.content,
    priority: shown.priority ?? null,
  });
  if (quick !== null)
    assert.deepEqual([...quick], [...type.encode(data)], `${typeName} ${content}`);
}

test("the quick way gives what the record types give", () => {
  fc.assert(fc.property(fc.ipV4(), (address) => bothWays("A", address)));
  fc.assert(fc.property(fc.ipV6(), (address) => bothWays("AAAA", address)));
  fc.assert(
    fc.property(fc.domain(), fc.nat(65_535), (host, priority) => {
      for (const type of ["CNAME", "NS", "PTR"]) bothWays(type, host);
      bothWays("MX", host, priority);
    }),
  );
  for (const address of ["::", "::1", "1::", "2001:db8::", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"]) {
    bothWays("AAAA", address);
  }
});

test("the quick way is taken for what is common", () => {
  const record = { content: "2001:db8::5:1", priority: null };
  assert.notEqual(quickRdata({ ...record, type: "AAAA" }), null);
  assert.notEqual(quickRdata({ ...record, type: "CNAME", content: "www.example.com" }), null);
  assert.equal(quickRdata({ ...record, type: "TXT", content: '"x"' }), null);
  assert.equal(quickRdata({ ...record, type: "NS", content: "." }), null);
});
