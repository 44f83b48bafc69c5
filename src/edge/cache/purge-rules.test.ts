import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { type NumberedPurge, PurgeRules } from "./purge-rules.ts";

const purge = (number: number, kind: NumberedPurge["kind"], value = "", zoneId = "z") =>
  ({ number, zoneId, kind, value }) as const;

suite("purges", () => {
  test("mean what was asked for before them, and lies where they say", () => {
    const rules = new PurgeRules();
    rules.add([
      purge(1, "url", "a.test/x?y=1"),
      purge(2, "host", "b.test"),
      purge(3, "prefix", "a.test/docs/"),
      purge(4, "everything", "", "other"),
    ]);
    const cases: [key: string, since: number, isPurged: boolean][] = [
      ["z https://a.test/x?y=1", 0, true],
      ["z http://a.test/x?y=1", 0, true],
      ["z https://a.test/x?y=1", 1, false],
      ["z https://a.test/x", 0, false],
      ["z https://b.test/any", 1, true],
      ["z https://b.test/any", 2, false],
      ["z https://c.b.test/any", 0, false],
      ["z https://a.test/docs/deep?q", 2, true],
      ["z https://a.test/docs", 2, false],
      ["other https://c.test/", 3, true],
      ["other https://c.test/", 4, false],
    ];
    for (const [key, since, isPurged] of cases) {
      assert.equal(rules.isPurged(key, since), isPurged, `${key} since ${since}`);
    }
  });

  test("that are missing make all doubtful that is older", () => {
    const rules = new PurgeRules();
    rules.add([purge(1, "host", "b.test"), purge(5, "host", "c.test")]);
    assert.ok(rules.isPurged("z https://a.test/", 3));
    assert.ok(!rules.isPurged("z https://a.test/", 4));
    assert.ok(new PurgeRules(7).isPurged("z https://a.test/", 6));
    assert.ok(rules.isPurged("z https://a.test/", 6), "of another database");
  });

  test("beyond what is remembered become one of the whole zone", () => {
    const rules = new PurgeRules();
    rules.add(Array.from({ length: 501 }, (_, i) => purge(i + 1, "prefix", `a.test/${i}/`)));
    assert.ok(rules.isPurged("z https://b.test/", 500));
    assert.ok(!rules.isPurged("z https://b.test/", 501));
    assert.ok(!rules.isPurged("y https://b.test/", 0));
  });

  test("forget nothing, in whatever groups they come", () => {
    const one = fc.record({
      kind: fc.constantFrom("url", "host", "prefix", "everything"),
      host: fc.constantFrom("a.test", "b.test"),
      path: fc.constantFrom("/", "/a", "/a/b"),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), one, fc.nat(30), (list, stored, since) => {
        const rules = new PurgeRules();
        const purges = list.map(({ kind, host, path }, i) =>
          purge(i + 1, kind, kind === "everything" ? "" : kind === "host" ? host : host + path),
        );
        rules.add(purges.slice(0, list.length >> 1));
        rules.add(purges);
        const address = stored.host + stored.path;
        const expected =
          since > list.length ||
          purges.some(({ number, kind, value }) => {
            if (number <= since) return false;
            if (kind === "everything") return true;
            if (kind === "host") return value === stored.host;
            return kind === "url" ? value === address : address.startsWith(value);
          });
        assert.equal(rules.isPurged(`z https://${address}`, since), expected);
      }),
    );
  });
});
