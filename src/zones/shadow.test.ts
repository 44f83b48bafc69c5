/** What delegations do to records: shadows, glue, glue that nobody serves, and what it costs to know. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { ZoneRecord } from "./record.ts";
import { isBelowDelegation, MAX_SHADOWS, namesAbove, shadowsOf } from "./shadow.ts";

const APEX = "example.com";

/** `sub NS ns1.sub` as a record of the zone; names and targets are relative, `@` is the apex. */
function parse(line: string): ZoneRecord {
  const [name = "", type = "", content = ""] = line.split(/\s+/);
  const absolute = (text: string) => (text === "@" ? APEX : `${text}.${APEX}`);
  return {
    id: line,
    zone: 1,
    name: absolute(name),
    type,
    content: type === "NS" && !content.endsWith(".") ? absolute(content) : content.slice(0, -1),
    priority: null,
    ttl: 1,
    proxied: false,
    createdAt: 0,
    modifiedAt: 0,
    extra: null,
  };
}

/** A zone in memory that counts what is asked of it. */
function zoneOf(records: readonly ZoneRecord[]) {
  const asked = { nameservers: 0, at: 0, names: 0 };
  const source = {
    apex: APEX,
    async nameservers(most: number) {
      asked.nameservers++;
      const found = records.filter(({ type }) => type === "NS");
      return found.length > most ? null : found;
    },
    async at(name: string) {
      asked.at++;
      return records.filter((record) => record.name === name);
    },
    async *names() {
      asked.names++;
      const byName = Map.groupBy(records, ({ name }) => name);
      for (const [name, there] of byName) yield [[name, there.length] as const];
    },
  };
  return { source, asked };
}

async function shadows(...lines: string[]) {
  const records = lines.map(parse);
  const found = await shadowsOf(records, zoneOf(records).source);
  return (line: string) => {
    const { shadowedBy, isGlue, isDeadGlue, shadows: count } = found.get(line)!;
    return [shadowedBy, ...(isGlue ? ["glue"] : []), ...(isDeadGlue ? ["dead"] : []), count];
  };
}

suite("a delegation", () => {
  test("hides what stands below it, and says how many", async () => {
    const of = await shadows("sub NS ns.org.", "www.sub A x", "*.deep.sub TXT x", "www A x");
    assert.deepEqual(of("sub NS ns.org."), [[], 2]);
    assert.deepEqual(of("www.sub A x"), [["sub NS ns.org."], 0]);
    assert.deepEqual(of("*.deep.sub TXT x"), [["sub NS ns.org."], 0]);
    assert.deepEqual(of("www A x"), [[], 0]);
  });

  test("of several NS records is all of them, and each counts the same", async () => {
    const of = await shadows("sub NS ns1.org.", "sub NS ns2.org.", "www.sub A x");
    assert.deepEqual(of("www.sub A x"), [["sub NS ns1.org.", "sub NS ns2.org."], 0]);
    assert.deepEqual(of("sub NS ns1.org."), [[], 1]);
    assert.deepEqual(of("sub NS ns2.org."), [[], 1]);
  });

  test("does not hide its own NS and DS records, which are the parent's", async () => {
    const of = await shadows("sub NS ns.org.", "sub DS x", "sub TXT x");
    assert.deepEqual(of("sub NS ns.org."), [[], 1]);
    assert.deepEqual(of("sub DS x"), [[], 0]);
    assert.deepEqual(of("sub TXT x"), [["sub NS ns.org."], 0]);
  });

  test("is not what the apex has", async () => {
    const of = await shadows("@ NS ns.org.", "@ A x", "www A x");
    for (const line of ["@ NS ns.org.", "@ A x", "www A x"]) assert.deepEqual(of(line), [[], 0]);
  });

  test("below another is hidden itself, and what is below both is hidden by both", async () => {
    const of = await shadows("sub NS ns.org.", "a.sub NS ns.net.", "w.a.sub A x", "a.sub DS x");
    assert.deepEqual(of("sub NS ns.org."), [[], 3]);
    assert.deepEqual(of("a.sub NS ns.net."), [["sub NS ns.org."], 0]);
    assert.deepEqual(of("a.sub DS x"), [["sub NS ns.org."], 0]);
    assert.deepEqual(of("w.a.sub A x"), [["sub NS ns.org.", "a.sub NS ns.net."], 0]);
  });

  test("does not reach names that only look like those below it", async () => {
    const of = await shadows("sub NS ns.org.", "xsub A x", String.raw`a\.sub TXT x`, "sub.x A x");
    assert.deepEqual(of("sub NS ns.org."), [[], 0]);
    assert.deepEqual(of(String.raw`a\.sub TXT x`), [[], 0]);
  });
});

suite("glue", () => {
  test("is an address that the delegation above it needs", async () => {
    const of = await shadows("sub NS ns1.sub", "ns1.sub A x", "ns1.sub AAAA x", "ns2.sub A x");
    assert.deepEqual(of("ns1.sub A x"), [["sub NS ns1.sub"], "glue", 0]);
    assert.deepEqual(of("ns1.sub AAAA x"), [["sub NS ns1.sub"], "glue", 0]);
    assert.deepEqual(of("ns2.sub A x"), [["sub NS ns1.sub"], 0]);
  });

  test("is no other type, and no address outside of the delegation", async () => {
    const of = await shadows("sub NS ns1.sub", "sub NS ns1", "ns1.sub CNAME x", "ns1 A x");
    assert.deepEqual(of("ns1.sub CNAME x"), [["sub NS ns1.sub", "sub NS ns1"], 0]);
    assert.deepEqual(of("ns1 A x"), [[], 0]);
  });

  test("is not what only another delegation needs", async () => {
    const of = await shadows("one NS ns.two", "two NS ns.org.", "ns.two A x");
    assert.deepEqual(of("ns.two A x"), [["two NS ns.org."], 0]);
  });

  test("is dead when a delegation nearer to the apex comes first", async () => {
    const of = await shadows(
      "sub NS ns1.sub",
      "a.sub NS ns1.a.sub",
      "ns1.a.sub A x",
      "ns1.sub A x",
    );
    const both = ["sub NS ns1.sub", "a.sub NS ns1.a.sub"];
    assert.deepEqual(of("ns1.a.sub A x"), [both, "glue", "dead", 0]);
    assert.deepEqual(of("ns1.sub A x"), [["sub NS ns1.sub"], "glue", 0]);
  });

  test("lives when the first delegation needs it as well", async () => {
    const of = await shadows("sub NS ns1.a.sub", "a.sub NS ns1.a.sub", "ns1.a.sub A x");
    const both = ["sub NS ns1.a.sub", "a.sub NS ns1.a.sub"];
    assert.deepEqual(of("ns1.a.sub A x"), [both, "glue", 0]);
  });
});

suite("what it costs", () => {
  test("is one question for records of a zone without delegations", async () => {
    const records = Array.from({ length: 100 }, (_, i) => parse(`h${i} A x`));
    const { source, asked } = zoneOf(records);
    await shadowsOf(records, source);
    assert.deepEqual(asked, { nameservers: 1, at: 0, names: 0 });
  });

  test("is nothing for records of the apex", async () => {
    const { source, asked } = zoneOf([]);
    await shadowsOf([parse("@ A x"), parse("@ NS ns.org.")], source);
    assert.deepEqual(asked, { nameservers: 0, at: 0, names: 0 });
  });

  test("follows the records, not the delegations, where there are very many of these", async () => {
    const many = Array.from({ length: 3_000 }, (_, i) => parse(`d${i} NS ns.org.`));
    const record = parse("www.a.d7 A x");
    const { source, asked } = zoneOf([...many, record]);
    const found = await shadowsOf([record], source);
    assert.deepEqual(found.get(record.id)!.shadowedBy, ["d7 NS ns.org."]);
    assert.deepEqual(asked, { nameservers: 1, at: 3, names: 0 });
  });

  test("ends when there is nothing more to count", async () => {
    const cut = parse("sub NS ns.org.");
    let walked = 0;
    const source = {
      ...zoneOf([cut]).source,
      async *names() {
        for (; walked < 100; walked++) yield [[`h${walked}.sub.${APEX}`, 6_000] as const];
      },
    };
    const found = await shadowsOf([cut], source);
    assert.equal(found.get(cut.id)!.shadows, MAX_SHADOWS);
    assert.equal(walked, 1, "two stretches are enough");
  });
});

test("the names above a name are those below the apex", () => {
  assert.deepEqual(namesAbove("a.b.example.com", APEX), ["a.b.example.com", "b.example.com"]);
  assert.deepEqual(namesAbove(APEX, APEX), []);
  assert.deepEqual(namesAbove("xexample.com", APEX), []);
  assert.deepEqual(namesAbove("com", APEX), []);
  const escaped = String.raw`a\.b\\.c.example.com`;
  assert.deepEqual(namesAbove(escaped, APEX), [escaped, "c.example.com"]);
});

test("in any zone, what delegations count is what records say of them", async () => {
  const label = fc.constantFrom("a", "b", "c");
  const name = fc.array(label, { minLength: 0, maxLength: 4 }).map((all) => all.join(".") || "@");
  const type = fc.constantFrom("NS", "NS", "A", "AAAA", "TXT", "DS");
  const line = fc.tuple(name, type, name).map((parts) => parts.join(" "));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(line, { maxLength: 25 }), async (lines) => {
      const records = lines.map(parse);
      const found = await shadowsOf(records, zoneOf(records).source);
      for (const record of records) {
        const { shadowedBy, isGlue, isDeadGlue, shadows: count } = found.get(record.id)!;
        const by = records.filter((one) => shadowedBy.includes(one.id));
        assert.ok(by.every((ns) => ns.type === "NS" && isBelowDelegation(record, ns.name)));
        if (record.name === APEX) assert.deepEqual(shadowedBy, []);
        if (isGlue) assert.ok(by.some(({ content }) => content === record.name));
        if (isDeadGlue) assert.ok(isGlue && new Set(by.map((ns) => ns.name)).size > 1);
        if (record.type !== "NS" || record.name === APEX || by.length > 0) continue;
        const hidden = records.filter(({ id }) => found.get(id)!.shadowedBy.includes(record.id));
        assert.equal(count, hidden.length);
      }
    }),
  );
});
