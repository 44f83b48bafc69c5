/** Many requests for one thing, of which the origin sees one. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { octetsOf, settle, slowBody, World } from "./origin.contract.ts";

const fresh = { "Cache-Control": "max-age=60" };
const many = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

suite("requests that come together", () => {
  test("are one fetch, and all read along while the body comes", async () => {
    const body = slowBody();
    const world = new World({ headers: fresh, body });
    const early = many(500, () => world.get("/"));
    await settle();
    body.send("first ");
    await settle();
    const late = many(500, () => world.get("/"));
    await settle();
    body.send("second");
    body.end();
    const all = await Promise.all([...early, ...late]);
    assert.equal(world.fetches.length, 1);
    assert.ok(all.every(({ body: text }) => text === "first second"));
    assert.equal((await world.get("/")).cache, "HIT");
  });

  test("see the body as it comes, not when it is whole", async () => {
    const body = slowBody();
    const world = new World({ headers: fresh, body });
    const [one, other] = await Promise.all([world.open("/"), world.open("/")]);
    const readers = [one, other].map(({ body: octets }) =>
      (octets as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](),
    );
    body.send("a");
    for (const reader of readers) assert.equal(String((await reader.next()).value), "a");
    await readers[0]!.return!();
    body.send("b");
    body.end();
    assert.equal(String((await readers[1]!.next()).value), "b");
  });

  test("go on side by side when the response cannot be kept, and so do the next", async () => {
    let open = 0;
    let most = 0;
    const gates: (() => void)[] = [];
    const world = new World(async () => {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => gates.push(resolve));
      open--;
      return { headers: { "Cache-Control": "private" }, body: "mine" };
    });
    const all = many(50, () => world.get("/"));
    await settle();
    assert.equal(open, 1);
    gates.shift()!();
    await settle();
    assert.equal(open, 49, "none waits for another");
    for (const gate of gates.splice(0)) gate();
    assert.ok((await Promise.all(all)).every(({ cache }) => cache === "BYPASS"));
    const next = many(5, () => world.get("/"));
    await settle();
    assert.equal(open, 5, "not even for the first");
    for (const gate of gates.splice(0)) gate();
    await Promise.all(next);
    assert.equal(most, 49);
  });

  test("wait for each other again once a response could be kept", async () => {
    const world = new World({ headers: { "Cache-Control": "no-store" } });
    await world.get("/");
    world.script = () => ({ headers: fresh, body: "now" });
    assert.equal((await world.get("/")).cache, "MISS");
    assert.equal((await world.get("/")).cache, "HIT");
    world.purges.add([{ number: 1, zoneId: "z", kind: "everything", value: "" }]);
    const before = world.fetches.length;
    await Promise.all(many(10, () => world.get("/")));
    assert.equal(world.fetches.length, before + 1);
  });

  test("share the origin's failure, and the next try is a new one", async () => {
    const gate = Promise.withResolvers<void>();
    const world = new World(async () => {
      await gate.promise;
      throw new Error("refused");
    });
    const all = many(20, () => world.get("/"));
    await settle();
    gate.resolve();
    const results = await Promise.allSettled(all);
    assert.ok(results.every(({ status }) => status === "rejected"));
    assert.equal(world.fetches.length, 1);
    world.script = () => ({ headers: fresh });
    assert.equal((await world.get("/")).cache, "MISS");
  });

  test("do not wait longer than they may", async () => {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const world = new World(
      async () => {
        if (asked++ === 0) await gate.promise;
        return { headers: fresh, body: "b" };
      },
      { waitMs: 5 },
    );
    const slow = world.get("/");
    assert.equal((await world.get("/")).body, "b");
    gate.resolve();
    assert.equal((await slow).body, "b");
  });

  test("with other variants are a fetch for each variant", async () => {
    const world = new World(async () => {
      await settle();
      return { headers: { ...fresh, Vary: "X-A" } };
    });
    const all = await Promise.all(many(60, (i) => world.get("/", { "x-a": String(i % 3) })));
    assert.equal(all.length, 60);
    assert.equal(world.fetches.length, 3);
  });

  test("for a variant that is on its way read along, though its fields were not known at first", async () => {
    const body = slowBody();
    const world = new World({ headers: { ...fresh, Vary: "X-A" }, body });
    const early = world.get("/", { "x-a": "1" });
    await settle();
    const late = world.get("/", { "x-a": "1" });
    await settle();
    body.send("b");
    body.end();
    assert.deepEqual([(await early).body, (await late).body], ["b", "b"]);
    assert.equal(world.fetches.length, 1);
  });

  test("validate once", async () => {
    const world = new World({ headers: { ...fresh, ETag: '"1"' }, body: "b" });
    await world.get("/");
    world.pass(61);
    world.script = async () => {
      await settle();
      return { status: 304, headers: { Date: new Date(world.now).toUTCString() } };
    };
    const all = await Promise.all(many(50, () => world.get("/")));
    assert.ok(all.every(({ cache, body }) => cache === "REVALIDATED" && body === "b"));
    assert.equal(world.fetches.length, 2);
  });

  test("outlive the one that asked", async () => {
    const body = slowBody();
    const world = new World({ headers: fresh, body });
    const [one, other] = await Promise.all([world.open("/"), world.open("/")]);
    await (one.body as AsyncIterableIterator<Uint8Array>).return!();
    body.send("still here");
    body.end();
    assert.equal(String(await octetsOf(other.body)), "still here");
  });
});
