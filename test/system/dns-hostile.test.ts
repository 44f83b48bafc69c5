/** Bad and contending requests to zones and records: each is answered, and nothing is left behind. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { besideCall, type Fields, succeeded, TestZone, type ZoneRecord } from "./dns-api.ts";
import { typeCases } from "./dns-types.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const RUNS = 60;
const zone = await TestZone.make(server, "hostile.example");
const kept = await zone.create({ type: "A", name: "kept", content: "192.0.2.1", comment: "kept" });
await zone.create({ type: "SRV", name: "_s._tcp", data: { port: 1, target: "t.net" } });

/** All that an attack could change of the zone. */
async function state(): Promise<unknown> {
  const paths = ["", "/settings", "/dns_settings"];
  const answers = await Promise.all(paths.map((path) => call(server, "GET", zone.path + path)));
  const history = await zone.history();
  return [...answers.map(({ result }) => result), await zone.all(), history.result];
}

const types = [...typeCases.map(({ type }) => type), "SOA", "ANY", "TYPE1", ""];
const keys = ["type", "name", "content", "data", "priority", "ttl", "proxied", "comment", "tags"];
const dataKeys = [...new Set(typeCases.flatMap(({ sent }) => Object.keys(sent[0]!["data"] ?? {})))];
/** Anything that JSON can say, and what looks almost right. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    ...types,
    ...typeCases.map(({ name }) => name),
    "@",
    "*",
    '"',
    "\\",
    "..",
    "__proto__",
  ),
  fc.constantFrom(-1, 0, 1, 65_535, 65_536, 1e21, 0.5, Number.MAX_SAFE_INTEGER),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.toWellFormed()),
);
const recordLike = fc.record(
  {
    type: fc.constantFrom(...types),
    data: fc.oneof(value, fc.dictionary(fc.constantFrom(...dataKeys), value, { maxKeys: 6 })),
    ...Object.fromEntries(
      [...keys.slice(1).filter((key) => key !== "data"), "settings"].map((key) => [key, value]),
    ),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(fc.jsonValue({ maxDepth: 4 }), recordLike);

/** Sends each body as a dry run where there is one, so that even a right one changes nothing. */
function attack(name: string, method: string, path: string, bodies: fc.Arbitrary<unknown>): void {
  test(`${name} takes any JSON without harm`, async () => {
    const before = await state();
    await fc.assert(
      fc.asyncProperty(bodies, async (sent) => {
        const answer = await call(server, method, path, { body: JSON.stringify(sent) });
        assert.ok(
          answer.status === 200 || (answer.status >= 400 && answer.status < 500),
          answer.text,
        );
        assert.notEqual(answer.status, 409, "clients retry it");
      }),
      { numRuns: RUNS },
    );
    assert.deepEqual(await state(), before);
  });
}

suite("random JSON", () => {
  const records = `${zone.path}/dns_records`;
  const operations = fc.oneof(fc.jsonValue(), fc.array(recordLike, { maxLength: 3 }));
  const withId = fc.array(
    recordLike.map((fields) => ({ ...fields, id: kept.id })),
    { maxLength: 3 },
  );
  const lists = fc.record(
    { deletes: operations, patches: withId, puts: withId, posts: operations },
    { requiredKeys: [] },
  );
  attack("POST dns_records", "POST", `${records}?dry_run=true`, body);
  attack("PUT dns_records", "PUT", `${records}/${kept.id}?dry_run=true`, body);
  attack("PATCH dns_records", "PATCH", `${records}/${kept.id}?dry_run=true`, body);
  attack("a batch", "POST", `${records}/batch?dry_run=true`, fc.oneof(body, lists));
  attack(
    "a revert",
    "POST",
    `${records}/revert?dry_run=true`,
    fc.oneof(body, fc.record({ serial: value })),
  );
  // These have no dry run; no random value is right for them.
  const wrong = fc.jsonValue({ maxDepth: 3 }).filter((json) => json !== "on" && json !== "off");
  attack("a setting", "PATCH", `${zone.path}/settings/ipv6`, fc.record({ value: wrong }));
  const item = fc.record({ id: fc.constantFrom("ipv6", "ssl", "x", "__proto__"), value: wrong });
  const items = fc.oneof(fc.jsonValue(), fc.array(item));
  attack("settings", "PATCH", `${zone.path}/settings`, fc.record({ items }));
  const negative = fc.oneof(fc.integer({ max: -1 }), fc.string(), fc.object());
  const dnsSettings = fc.record({ ns_ttl: negative, soa: fc.jsonValue(), zone_mode: value });
  attack("DNS settings", "PATCH", `${zone.path}/dns_settings`, dnsSettings);

  const notPaused = fc.jsonValue().filter((json) => typeof json !== "boolean");
  const zoneLike = fc.record({ paused: notPaused, type: value, vanity_name_servers: value });
  attack("a zone", "PATCH", zone.path, zoneLike);
  const review = fc.record({ accepts: fc.jsonValue(), rejects: operations }, { requiredKeys: [] });
  attack("the review of a scan", "POST", `${records}/scan/review`, fc.oneof(body, review));

  test("POST /zones takes any JSON without harm", async () => {
    const before = await state();
    const input = fc.oneof(body, fc.record({ name: value, account: value, type: value }));
    await fc.assert(
      fc.asyncProperty(input, async (sent) => {
        const answer = await call(server, "POST", "/zones", { body: JSON.stringify(sent) });
        assert.ok(
          answer.status === 200 || (answer.status >= 400 && answer.status < 500),
          answer.text,
        );
        if (answer.status === 200) {
          const { id } = answer.result as { id: string };
          succeeded(await call(server, "DELETE", `/zones/${id}`));
        }
      }),
      { numRuns: RUNS },
    );
    assert.deepEqual(await state(), before);
  });

  test("what random JSON creates for good can be listed, exported and deleted", async () => {
    const own = await TestZone.make(server, "survivors.example");
    await fc.assert(
      fc.asyncProperty(recordLike, async (fields) => {
        const answer = await own.call("POST", "", JSON.stringify({ name: "x", ...fields }));
        assert.ok(answer.status === 200 || answer.status === 400, answer.text);
        if (answer.status === 200) {
          const record = answer.result as ZoneRecord;
          assert.deepEqual(await own.get(record.id), record);
        }
      }),
      { numRuns: 4 * RUNS },
    );
    const all = await own.all();
    assert.equal(
      (await own.export()).split("\n").filter((line) => /\tIN\t/.test(line)).length,
      all.length + 3,
    );
    for (const { id } of all.toSorted((a) => (a.type === "DS" ? -1 : 1))) {
      succeeded(await own.call("DELETE", `/${id}`));
    }
    assert.deepEqual(await own.all(), []);
  });
});

test("random queries of the list are answered, and change nothing", async () => {
  const fields = "name name.contains content.exact comment.present tag tag.exact type proxied page";
  const others = "per_page order direction match tag_match search shadowing_name shadowed_by_name";
  const field = fc.constantFrom(...`${fields} ${others} include_shadow_metadata`.split(" "));
  const text = fc.string({ unit: "binary", maxLength: 20 }).map((one) => one.toWellFormed());
  const given = fc.oneof(
    text,
    text.map((one) => `${one}.hostile.example`),
    fc.constantFrom("true", "any", "1", "A", "a:b", "@", "", "kept.hostile.example"),
  );
  const before = await state();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(field, given), { maxLength: 6 }), async (pairs) => {
      const query = String(new URLSearchParams(pairs));
      const answer = await zone.call("GET", `?${query}`);
      assert.ok(answer.status === 200 || answer.status === 400, `${query} ${answer.text}`);
      const zones = await call(server, "GET", `/zones?${query}`);
      assert.ok(zones.status === 200 || zones.status === 400, `${query} ${zones.text}`);
    }),
    { numRuns: 4 * RUNS },
  );
  assert.deepEqual(await state(), before);
});

suite("an import", () => {
  test("of random bytes is answered and changes nothing when refused", async () => {
    const marks = ["(", ")", '"', ";", "\n", "\t", " ", "\\", "host$", "${0,4096,d}"];
    const others = "$ORIGIN $TTL $GENERATE $INCLUDE IN @ 1-99999999 192.0.2.1 a. 3600 cf_tags=a:b";
    const words = [...typeCases.map(({ type }) => type), ...others.split(" "), ...marks];
    const almost = fc
      .array(fc.constantFrom(...words), { maxLength: 30 })
      .map((all) => all.join(" "));
    const file = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => new Uint8Array(bytes)),
      almost,
    );
    const before = await state();
    await fc.assert(
      fc.asyncProperty(file, async (bytes) => {
        const answer = await zone.import(bytes, {}, "?dry_run=true");
        assert.ok(answer.status === 200 || answer.status === 400, JSON.stringify(answer.errors));
      }),
      { numRuns: 2 * RUNS },
    );
    assert.deepEqual(await state(), before);
  });

  test("of a form that is none is refused", async () => {
    const path = `${zone.path}/dns_records/import`;
    for (const [type, content] of [
      ["multipart/form-data; boundary=x", "not a form"],
      [
        "multipart/form-data; boundary=x",
        '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nzone',
      ],
      ["multipart/form-data", "--x--"],
      ["multipart/form-data; boundary=", "--\r\n"],
    ] as const) {
      const blob = new Blob([content], { type });
      const headers = { "Content-Type": type };
      const init = { method: "POST", body: blob as unknown as FormData, headers };
      assert.equal((await besideCall(server, path, init)).status, 400, content);
    }
  });
});

suite("at the same time", () => {
  test("fifty creates in one zone all succeed, each with a serial of its own", async () => {
    const own = await TestZone.make(server);
    const create = (_: unknown, i: number) =>
      own.create({ type: "A", name: `h${i}`, content: `192.0.2.${i}` });
    const made = await Promise.all(Array.from({ length: 50 }, create));
    assert.equal(new Set(made.map(({ id }) => id)).size, 50);
    assert.equal((await own.all()).length, 50);
    const { result } = await own.history("per_page=100");
    const entries = result as { serial: number; changes: { after: ZoneRecord }[] }[];
    const serials = entries.map(({ serial }) => serial);
    assert.equal(serials.length, 50);
    assert.deepEqual(
      serials,
      [...new Set(serials)].toSorted((a, b) => b - a),
    );
    const told = entries.map(({ changes }) => changes[0]!.after.id).toSorted();
    assert.deepEqual(told, made.map(({ id }) => id).toSorted());
    const usage = await own.call("GET", "/usage");
    assert.equal((usage.result as { record_usage: number }).record_usage, 50);
  });

  test("of a CNAME and an A at one name exactly one wins", async () => {
    const own = await TestZone.make(server);
    const pairs: [Fields, Fields, readonly number[]][] = [
      [{ type: "CNAME", content: "x.net" }, { type: "A", content: "192.0.2.1" }, [81_053, 81_054]],
      [{ type: "A", content: "192.0.2.1" }, { type: "A", content: "192.0.2.1" }, [81_058]],
      [{ type: "NS", content: "ns.net" }, { type: "TXT", content: "x" }, [81_056]],
    ];
    for (let i = 0; i < 8; i++) {
      for (const [j, [one, two, codes]] of pairs.entries()) {
        const name = `n${i}x${j}`;
        const answers = await Promise.all(
          [one, two].map((fields) => own.call("POST", "", { name, ...fields })),
        );
        assert.equal(answers.filter(({ status }) => status === 200).length, 1);
        const loser = answers.find(({ status }) => status === 400)!;
        assert.ok(codes.includes(loser.errors[0]!.code), loser.text);
        assert.equal((await own.list(`name=${name}.${own.name}`)).length, 1);
      }
    }
  });

  test("of two zones of one name exactly one is made", async () => {
    const body = { name: "contended.example" };
    const posts = Array.from({ length: 10 }, () => call(server, "POST", "/zones", { body }));
    const answers = await Promise.all(posts);
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    for (const { status, errors } of answers)
      if (status !== 200) assert.equal(errors[0]!.code, 1061);
  });

  test("changes of the zone and of its records do not undo each other", async () => {
    const own = await TestZone.make(server);
    const work = Array.from({ length: 20 }, (_, i) => [
      own.create({ type: "TXT", name: `t${i}`, content: "x" }),
      own.setSetting("browser_cache_ttl", i),
      call(server, "PATCH", own.path, { body: { paused: i % 2 === 0 } }).then(succeeded),
    ]);
    await Promise.all(work.flat());
    assert.equal((await own.all()).length, 20);
    const usage = await own.call("GET", "/usage");
    assert.equal((usage.result as { record_usage: number }).record_usage, 20);
  });
});
