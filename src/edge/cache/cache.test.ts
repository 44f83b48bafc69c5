import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { NOW, settle, slowBody, World } from "./origin.contract.ts";

const fresh = { "Cache-Control": "max-age=60" };
const httpDate = (ms: number) => new Date(ms).toUTCString();

suite("a response that may be kept", () => {
  test("is fetched once and then comes from memory, with its age (RFC 9111 §4, §5.1)", async () => {
    const world = new World({ headers: { ...fresh, "X-Own": "1" }, body: "hello" });
    const first = await world.get("/a");
    assert.deepEqual([first.status, first.cache, first.body], [200, "MISS", "hello"]);
    world.pass(7);
    const hit = await world.get("/a");
    assert.deepEqual([hit.status, hit.cache, hit.body], [200, "HIT", "hello"]);
    assert.deepEqual(
      [hit.headers["age"], hit.headers["content-length"], hit.headers["x-own"]],
      ["7", "5", "1"],
    );
    assert.deepEqual(world.fetches, [[]]);
  });

  test("is at hand without waiting, and hits within a second share one head", async () => {
    const world = new World({ headers: fresh, body: "hello" });
    await world.get("/");
    const request = { method: "GET", zoneId: "z", level: "aggressive", scheme: "https" } as const;
    const ask = () =>
      world.cache.handle(
        { ...request, hostname: "www.example.com", target: "/", headers: {} },
        world.fetchOrigin,
      );
    const [one, other] = [ask(), ask()];
    assert.ok(!(one instanceof Promise) && !(other instanceof Promise));
    assert.equal(one.headers, other.headers);
    assert.equal(one.body, other.body);
  });

  test("answers HEAD without its body (RFC 9111 §4)", async () => {
    const world = new World({ headers: fresh, body: "hello" });
    await world.get("/");
    const head = await world.get("/", {}, { method: "HEAD" });
    assert.deepEqual([head.status, head.cache, head.body], [200, "HIT", ""]);
    assert.equal(head.headers["content-length"], "5");
  });

  test("tells no age when it comes from the origin itself (RFC 9111 §5.1)", async () => {
    const world = new World({ status: 204, headers: fresh });
    const first = await world.get("/");
    assert.deepEqual(
      [first.headers["age"], first.headers["content-length"]],
      [undefined, undefined],
    );
    const hit = await world.get("/");
    assert.deepEqual([hit.cache, hit.headers["content-length"]], ["HIT", undefined]);
    world.script = () => ({ headers: { ...fresh, Age: "5" } });
    assert.equal((await world.get("/aged")).headers["age"], "5");
  });

  test("is another for another zone, scheme, host, path or query", async () => {
    const world = new World({ headers: fresh });
    await world.get("/a?b");
    for (const other of [
      { zoneId: "y" },
      { scheme: "http" },
      { hostname: "example.com" },
    ] as const) {
      assert.equal((await world.get("/a?b", {}, other)).cache, "MISS");
    }
    for (const target of ["/a", "/a?c", "/b?b"]) {
      assert.equal((await world.get(target)).cache, "MISS");
    }
  });

  test("is kept by the zone's level: simplified leaves the query aside, basic leaves such URLs out", async () => {
    const world = new World({ headers: fresh });
    await world.get("/a?b", {}, { level: "simplified" });
    assert.equal((await world.get("/a?c", {}, { level: "simplified" })).cache, "HIT");
    assert.equal((await world.get("/b?c", {}, { level: "basic" })).cache, "DYNAMIC");
    assert.equal((await world.get("/b", {}, { level: "basic" })).cache, "MISS");
    assert.equal((await world.get("/b", {}, { level: "basic" })).cache, "HIT");
  });

  test("is neither used nor made while the zone is off or in development mode", async () => {
    const world = new World({ headers: fresh });
    await world.get("/");
    assert.equal((await world.get("/", {}, { level: "off" })).cache, "DYNAMIC");
    assert.equal((await world.get("/", {}, { level: "bypass" })).cache, "BYPASS");
    assert.equal((await world.get("/")).cache, "HIT");
    assert.deepEqual(world.fetches, [[], null, null]);
  });
});

suite("variants of a response (RFC 9111 §4.1)", () => {
  test("are told apart by the fields that Vary names", async () => {
    const world = new World({ headers: { ...fresh, Vary: "Accept-Language" }, body: "x" });
    assert.equal((await world.get("/", { "accept-language": "de" })).cache, "MISS");
    assert.equal((await world.get("/", { "accept-language": "en" })).cache, "MISS");
    assert.equal((await world.get("/")).cache, "MISS");
    assert.equal((await world.get("/", { "accept-language": "de" })).cache, "HIT");
    assert.equal((await world.get("/", { "accept-language": "en" })).cache, "HIT");
    assert.equal((await world.get("/")).cache, "HIT");
  });

  test("are all forgotten with their URL, and are not found again", async () => {
    const world = new World({ headers: { ...fresh, Vary: "Accept-Language" } });
    await world.get("/", { "accept-language": "de" });
    await world.get("/", { "accept-language": "en" });
    world.script = () => ({ status: 204 });
    await world.get("/", {}, { method: "POST" });
    world.script = () => ({ headers: { ...fresh, Vary: "Accept-Language" } });
    assert.equal((await world.get("/", { "accept-language": "de" })).cache, "MISS");
    assert.equal((await world.get("/", { "accept-language": "en" })).cache, "MISS");
  });

  test("follow a Vary that changes", async () => {
    const world = new World({ headers: fresh });
    await world.get("/");
    world.pass(60);
    world.script = () => ({ headers: { ...fresh, Date: httpDate(world.now), Vary: "X-A" } });
    assert.equal((await world.get("/", { "x-a": "1" })).cache, "EXPIRED");
    assert.equal((await world.get("/", { "x-a": "2" })).cache, "MISS");
    assert.equal((await world.get("/", { "x-a": "1" })).cache, "HIT");
  });
});

suite("a stale response", () => {
  const validated = { ...fresh, ETag: '"1"', "Last-Modified": httpDate(NOW - 1000) };

  test("is validated, and a 304 renews its head (RFC 9111 §4.3.1, §4.3.4, §3.2)", async () => {
    const world = new World({ headers: { ...validated, "X-Old": "1", "X-Same": "1" }, body: "b" });
    await world.get("/");
    world.pass(61);
    const date = httpDate(world.now);
    world.script = () => ({
      status: 304,
      headers: { Date: date, "Cache-Control": "max-age=30", "X-Old": "2", "Content-Length": "99" },
    });
    const renewed = await world.get("/");
    assert.deepEqual([renewed.status, renewed.cache, renewed.body], [200, "REVALIDATED", "b"]);
    assert.deepEqual(world.fetches[1], [
      "If-None-Match",
      '"1"',
      "If-Modified-Since",
      validated["Last-Modified"],
    ]);
    const { headers } = await world.get("/");
    assert.deepEqual(
      [headers["x-old"], headers["x-same"], headers["content-length"], headers["etag"]],
      ["2", "1", "1", '"1"'],
    );
    world.pass(29);
    assert.equal((await world.get("/")).cache, "HIT");
    world.pass(2);
    assert.equal((await world.get("/")).cache, "REVALIDATED");
  });

  test("gives way to what the origin sends instead", async () => {
    const world = new World({ headers: validated, body: "old" });
    await world.get("/");
    world.pass(61);
    world.script = () => ({ headers: { ...fresh, Date: httpDate(world.now) }, body: "new" });
    const changed = await world.get("/");
    assert.deepEqual([changed.cache, changed.body], ["EXPIRED", "new"]);
    assert.equal((await world.get("/")).body, "new");
  });

  test("is not renewed by a 304 about another response (RFC 9111 §4.3.4)", async () => {
    const world = new World({ headers: validated, body: "old" });
    await world.get("/");
    world.pass(61);
    world.script = (conditions) =>
      conditions!.length > 0
        ? { status: 304, headers: { ETag: '"2"' } }
        : { headers: { ...fresh, Date: httpDate(world.now), ETag: '"2"' }, body: "new" };
    assert.equal((await world.get("/")).body, "new");
    assert.equal(world.fetches.length, 3);
  });

  test("that the origin no longer lets be kept is forgotten", async () => {
    const world = new World({
      headers: { ...validated, "Cache-Control": "max-age=60, stale-if-error=600" },
    });
    await world.get("/");
    world.pass(61);
    world.script = () => ({ headers: { "Cache-Control": "private" }, body: "mine" });
    assert.equal((await world.get("/")).cache, "BYPASS");
    world.script = () => Promise.reject(new Error("down"));
    await assert.rejects(world.get("/"), /down/);
  });

  test("is used while a newer one is fetched (RFC 5861 §3)", async () => {
    const world = new World({
      headers: { "Cache-Control": "max-age=60, stale-while-revalidate=30" },
      body: "old",
    });
    await world.get("/");
    world.pass(70);
    const gate = Promise.withResolvers<void>();
    world.script = async () => {
      await gate.promise;
      return { headers: { ...fresh, Date: httpDate(world.now) }, body: "new" };
    };
    const both = [await world.get("/"), await world.get("/")];
    assert.deepEqual(
      both.map(({ cache, body }) => [cache, body]),
      [
        ["UPDATING", "old"],
        ["UPDATING", "old"],
      ],
    );
    assert.equal(world.fetches.length, 2, "one fetch for both");
    gate.resolve();
    await settle();
    const next = await world.get("/");
    assert.deepEqual([next.cache, next.body], ["HIT", "new"]);
    world.pass(100);
    assert.equal((await world.get("/")).cache, "EXPIRED", "too old to be used");
  });

  test("stands in for an origin that fails, while it may (RFC 5861 §4)", async () => {
    const world = new World({
      headers: { "Cache-Control": "max-age=60, stale-if-error=30" },
      body: "old",
    });
    await world.get("/");
    world.pass(80);
    world.script = () => Promise.reject(new Error("refused"));
    assert.deepEqual(pick(await world.get("/")), ["STALE", "old"]);
    world.script = () => ({ status: 503, body: "busy" });
    assert.deepEqual(pick(await world.get("/")), ["STALE", "old"]);
    world.script = () => ({ status: 404, body: "gone" });
    assert.equal((await world.get("/")).status, 404, "not an error of the origin");
  });

  test("does not stand in when it must be validated (RFC 9111 §4.2.4, §5.2.2.2)", async () => {
    const world = new World({
      headers: { "Cache-Control": "max-age=60, must-revalidate, stale-if-error=30" },
    });
    await world.get("/");
    world.pass(61);
    world.script = () => Promise.reject(new Error("refused"));
    await assert.rejects(world.get("/"), /refused/);
    await assert.rejects(world.get("/", { "cache-control": "max-stale" }), /refused/);
  });

  const pick = ({ cache, body }: { cache: string; body: string }) => [cache, body];
});

suite("what a client says", () => {
  test("no-cache, Pragma and max-age have the origin asked (RFC 9111 §5.2.1, §5.4)", async () => {
    const world = new World({ headers: { ...fresh, ETag: '"1"' } });
    await world.get("/");
    world.pass(10);
    world.script = () => ({ status: 304, headers: { Date: httpDate(world.now) } });
    for (const asked of [
      { "cache-control": "no-cache" },
      { pragma: "no-cache" },
      { "cache-control": "max-age=0" },
    ]) {
      world.pass(1);
      assert.equal((await world.get("/", asked)).cache, "REVALIDATED", JSON.stringify(asked));
    }
    assert.equal((await world.get("/", { "cache-control": "max-age=20" })).cache, "HIT");
    assert.equal((await world.get("/", { "cache-control": "min-fresh=90" })).cache, "REVALIDATED");
  });

  test("max-stale takes what is stale (RFC 9111 §5.2.1.2)", async () => {
    const world = new World({ headers: fresh });
    await world.get("/");
    world.pass(70);
    assert.equal((await world.get("/", { "cache-control": "max-stale=20" })).cache, "STALE");
    assert.equal((await world.get("/", { "cache-control": "max-stale" })).cache, "STALE");
    assert.equal((await world.get("/", { "cache-control": "max-stale=5" })).cache, "EXPIRED");
  });

  test("only-if-cached never asks the origin (RFC 9111 §5.2.1.7)", async () => {
    const world = new World({ headers: fresh });
    const asked = { "cache-control": "only-if-cached" };
    assert.equal((await world.get("/", asked)).status, 504);
    await world.get("/");
    assert.equal((await world.get("/", asked)).cache, "HIT");
    world.pass(61);
    assert.equal((await world.get("/", asked)).status, 504);
    assert.equal(world.fetches.length, 1);
  });

  test("no-store keeps nothing (RFC 9111 §5.2.1.5)", async () => {
    const world = new World({ headers: fresh });
    assert.equal((await world.get("/", { "cache-control": "no-store" })).cache, "BYPASS");
    assert.notEqual((await world.get("/")).cache, "HIT");
  });

  test("If-Match goes to the origin (RFC 9111 §4.3.2)", async () => {
    const world = new World({ headers: fresh });
    await world.get("/");
    assert.equal((await world.get("/", { "if-match": '"1"' })).cache, "DYNAMIC");
    assert.deepEqual(world.fetches, [[], null]);
  });

  test("with credentials it gets only what is for all (RFC 9111 §3.5)", async () => {
    const world = new World({ headers: fresh });
    const authorization = "Basic eDp5";
    assert.equal((await world.get("/", { authorization })).cache, "BYPASS");
    await settle();
    await world.get("/");
    assert.equal((await world.get("/", { authorization })).cache, "DYNAMIC");
    world.script = () => ({ headers: { "Cache-Control": "public, max-age=60" } });
    assert.equal((await world.get("/public", { authorization })).cache, "MISS");
    assert.equal((await world.get("/public", { authorization })).cache, "HIT");
  });
});

suite("conditions and ranges of clients", () => {
  const headers = {
    "Cache-Control": "max-age=600",
    "Content-Type": "text/plain",
    ETag: '"1"',
    "Last-Modified": httpDate(NOW - 3_600_000),
  };

  test("are answered from what is kept (RFC 9110 §13, §14, §15.3.7)", async () => {
    const world = new World({ headers, body: "0123456789" });
    await world.get("/");
    const cases: [asked: Record<string, string>, status: number, body: string, range?: string][] = [
      [{ "if-none-match": '"1"' }, 304, ""],
      [{ "if-none-match": '"0", W/"1"' }, 304, ""],
      [{ "if-none-match": "*" }, 304, ""],
      [{ "if-none-match": '"2"' }, 200, "0123456789"],
      [{ "if-modified-since": httpDate(NOW) }, 304, ""],
      [{ "if-modified-since": httpDate(NOW - 7_200_000) }, 200, "0123456789"],
      [{ "if-none-match": '"2"', "if-modified-since": httpDate(NOW) }, 200, "0123456789"],
      [{ range: "bytes=2-4" }, 206, "234", "bytes 2-4/10"],
      [{ range: "bytes=8-" }, 206, "89", "bytes 8-9/10"],
      [{ range: "bytes=-3" }, 206, "789", "bytes 7-9/10"],
      [{ range: "bytes=5-99" }, 206, "56789", "bytes 5-9/10"],
      [{ range: "bytes=10-" }, 416, "", "bytes */10"],
      [{ range: "bytes=0-1,4-5" }, 200, "0123456789"],
      [{ range: "lines=1-2" }, 200, "0123456789"],
      [{ range: "bytes=1-2", "if-range": '"1"' }, 206, "12", "bytes 1-2/10"],
      [{ range: "bytes=1-2", "if-range": '"2"' }, 200, "0123456789"],
      [{ range: "bytes=1-2", "if-range": 'W/"1"' }, 200, "0123456789"],
      [{ range: "bytes=1-2", "if-range": headers["Last-Modified"] }, 206, "12", "bytes 1-2/10"],
      [{ range: "bytes=1-2", "if-range": httpDate(NOW) }, 200, "0123456789"],
      [{ range: "bytes=1-2", "if-none-match": '"1"' }, 304, ""],
    ];
    for (const [asked, status, body, range] of cases) {
      const answer = await world.get("/", asked);
      const name = JSON.stringify(asked);
      assert.deepEqual([answer.status, answer.cache, answer.body], [status, "HIT", body], name);
      assert.equal(answer.headers["content-range"], range, name);
      if (status !== 304) {
        assert.equal(answer.headers["content-length"], String(body.length), name);
      } else {
        assert.equal(answer.headers["content-length"], undefined, name);
        assert.equal(answer.headers["etag"], '"1"', name);
      }
    }
    assert.equal(world.fetches.length, 1);
  });

  test("on a miss have the whole fetched and kept, and get their part", async () => {
    const body = "0123456789";
    const world = new World({ headers: { ...headers, "Content-Length": "10" }, body });
    const part = await world.get("/", { range: "bytes=2-4" });
    assert.deepEqual([part.status, part.cache, part.body], [206, "MISS", "234"]);
    await settle();
    assert.equal((await world.get("/")).cache, "HIT");
    const known = await world.get("/other", { "if-none-match": '"1"' });
    assert.deepEqual([known.status, known.cache], [304, "MISS"]);
    await settle();
    assert.deepEqual((await world.get("/other")).body, body);
  });

  test("go to the origin as they are when the response cannot be kept", async () => {
    let abandoned = 0;
    const world = new World((conditions) => ({
      headers: { "Cache-Control": "no-store" },
      body: conditions === null ? "part" : "all of it",
      onAbandon: () => abandoned++,
    }));
    assert.equal((await world.get("/", { range: "bytes=2-4" })).body, "part");
    assert.deepEqual([world.fetches, abandoned], [[[], null], 1]);
    await world.get("/", { range: "bytes=2-4" });
    assert.deepEqual(world.fetches, [[], null, null], "known by now");
  });
});

suite("an unsafe request (RFC 9111 §4.4)", () => {
  test("makes its own URL and those of Location and Content-Location doubtful", async () => {
    const world = new World({ headers: fresh });
    for (const path of ["/a", "/b", "/c", "/d"]) await world.get(path);
    world.script = () => ({
      status: 201,
      headers: { Location: "/b", "Content-Location": "https://www.example.com/c" },
    });
    await world.get("/a", {}, { method: "POST" });
    world.script = () => ({ headers: fresh });
    const states = [];
    for (const path of ["/a", "/b", "/c", "/d"]) states.push((await world.get(path)).cache);
    assert.deepEqual(states, ["MISS", "MISS", "MISS", "HIT"]);
    assert.ok(world.forgotten.includes("z https://www.example.com/a"), "other threads are told");
  });

  test("changes nothing when it fails, or names another host", async () => {
    const world = new World({ headers: fresh });
    await world.get("/a");
    await world.get("/a", {}, { hostname: "other.example.com" });
    world.script = () => ({ status: 500 });
    await world.get("/a", {}, { method: "DELETE" });
    world.script = () => ({ headers: { Location: "https://other.example.com/a" } });
    await world.get("/x", {}, { method: "PUT" });
    await world.get("/a", {}, { method: "OPTIONS" });
    assert.equal((await world.get("/a")).cache, "HIT");
    assert.equal((await world.get("/a", {}, { hostname: "other.example.com" })).cache, "HIT");
  });

  test("undoes also what was on its way", async () => {
    const body = slowBody();
    const world = new World({ headers: fresh, body });
    const early = world.get("/a");
    body.send("old");
    await settle();
    world.script = () => ({ status: 204 });
    await world.get("/a", {}, { method: "PUT" });
    world.script = () => ({ headers: fresh, body: "new" });
    const next = await world.get("/a");
    assert.deepEqual([next.cache, next.body], ["MISS", "new"]);
    body.end();
    assert.equal((await early).body, "old");
    await settle();
    assert.equal((await world.get("/a")).body, "new");
  });
});

suite("a body", () => {
  test("that is cut short is never kept", async () => {
    for (const headers of [fresh, { ...fresh, "Content-Length": "100" }]) {
      const body = slowBody();
      const world = new World({ headers, body });
      const answer = world.get("/");
      body.send("half");
      await settle();
      body.cut();
      await assert.rejects(answer, /cut short/);
      world.script = () => ({ headers: fresh, body: "whole" });
      assert.deepEqual((await world.get("/")).cache, "MISS");
    }
  });

  test("that has other than the octets it promised is never kept", async () => {
    const world = new World({ headers: { ...fresh, "Content-Length": "10" }, body: "short" });
    await assert.rejects(world.get("/"), /5 octets of 10/);
    world.script = () => ({ headers: fresh, body: "whole" });
    assert.equal((await world.get("/")).cache, "MISS");
  });

  test("that is too large is passed by, no faster than its client reads", async () => {
    let made = 0;
    const piece = Buffer.alloc(64 * 1024);
    const body = (async function* () {
      for (; made < 100; made++) yield piece;
    })();
    const world = new World({ headers: fresh, body });
    const { body: octets } = await world.open("/");
    const reader = (octets as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    for (let i = 0; i < 20; i++) await settle();
    assert.ok(made < 40, `${made} pieces were made before any was read`);
    let got = 0;
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
      got += next.value.length;
    }
    assert.equal(got, 100 * piece.length);
    world.script = () => ({ headers: { ...fresh, "Content-Length": String(1024 ** 3) } });
    assert.equal((await world.get("/huge")).cache, "BYPASS");
  });
});

suite("a purge", () => {
  test("takes effect on the next request, also for what is on its way", async () => {
    const world = new World({ headers: fresh });
    for (const path of ["/a", "/a/b", "/c"]) await world.get(path);
    const purge = (number: number, kind: "url" | "host" | "prefix" | "everything", value = "") =>
      world.purges.add([{ number, zoneId: "z", kind, value }]);
    purge(1, "url", "www.example.com/a");
    assert.equal((await world.get("/a")).cache, "MISS");
    assert.equal((await world.get("/a")).cache, "HIT");
    purge(2, "prefix", "www.example.com/a");
    assert.equal((await world.get("/a/b")).cache, "MISS");
    assert.equal((await world.get("/c")).cache, "HIT");
    purge(3, "host", "other.example.com");
    assert.equal((await world.get("/c")).cache, "HIT");
    const body = slowBody();
    world.script = () => ({ headers: fresh, body });
    const early = world.get("/slow");
    await settle();
    purge(4, "everything");
    world.script = () => ({ headers: fresh, body: "new" });
    assert.equal((await world.get("/slow")).body, "new");
    body.end();
    await early;
    await settle();
    assert.equal((await world.get("/c")).cache, "MISS");
    assert.equal((await world.get("/slow")).body, "new");
  });

  test("means also what a request that went by itself was about to bring", async () => {
    const world = new World({ headers: { "Cache-Control": "no-store" } });
    await world.get("/");
    world.script = () => {
      world.purges.add([{ number: 1, zoneId: "z", kind: "everything", value: "" }]);
      return { headers: fresh, body: "old" };
    };
    assert.equal((await world.get("/")).body, "old");
    world.script = () => ({ headers: fresh, body: "new" });
    assert.equal((await world.get("/")).body, "new");
  });
});

test("whatever happens, nobody gets what changed longer ago than the origin allows", async () => {
  const [freshFor, whileRevalidate, ifError] = [60, 30, 120];
  const control = `max-age=${freshFor}, stale-while-revalidate=${whileRevalidate}, stale-if-error=${ifError}`;
  /** How long ago, in seconds, what is answered may have ceased to be true. */
  const allowed: Readonly<Record<string, number>> = {
    HIT: freshFor,
    UPDATING: freshFor + whileRevalidate,
    STALE: freshFor + ifError,
    MISS: 0,
    EXPIRED: 0,
    REVALIDATED: 0,
  };
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom("get", "get", "change", "down", "up", "post", "purge"),
    },
    { weight: 1, arbitrary: fc.nat(100) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const endedAt: number[] = [];
      let version = 0;
      let isUp = true;
      let purges = 0;
      const world: World = new World((conditions) => {
        if (!isUp) throw new Error("down");
        const headers = {
          ETag: `"${version}"`,
          "Cache-Control": control,
          Date: httpDate(world.now),
        };
        const isSame = conditions?.[1] === headers.ETag;
        return isSame ? { status: 304, headers } : { headers, body: String(version) };
      });
      for (const one of steps) {
        if (typeof one === "number") world.pass(one);
        else if (one === "change") endedAt[version++] = world.now;
        else if (one === "purge") {
          world.purges.add([{ number: ++purges, zoneId: "z", kind: "everything", value: "" }]);
          endedAt.fill(Number.NEGATIVE_INFINITY);
        } else if (one === "post") {
          const done = await world.get("/", {}, { method: "POST" }).catch(() => null);
          if (done !== null) endedAt.fill(Number.NEGATIVE_INFINITY);
        } else if (one === "get") {
          const answer = await world.get("/").catch(() => null);
          await settle();
          if (answer === null) continue;
          const staleFor = (world.now - (endedAt[Number(answer.body)] ?? world.now)) / 1000;
          const most = allowed[answer.cache]!;
          assert.ok(staleFor === 0 || staleFor < most, `${answer.cache} of ${staleFor} s ago`);
        } else isUp = one === "up";
      }
    }),
    { numRuns: 200 },
  );
});
