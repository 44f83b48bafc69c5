import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ranges } from "#kit/cidr.ts";
import type { ServedZone } from "../destination.ts";
import { UsableOrigins } from "./usable-origins.ts";

const EDGE = "192.0.2.1";

function usableOrigins() {
  const judged: string[] = [];
  const edge = ranges([EDGE]);
  const usable = new UsableOrigins({
    allowed: ranges(["10.0.0.1"]),
    isEdge: (address) => {
      judged.push(address);
      return edge.has(address);
    },
  });
  return { usable, judged };
}

function asked(host = "a.test", ssl = "full", scheme: "http" | "https" = "http") {
  const zone = { ssl } as unknown as ServedZone;
  return { host, hostname: host.replace(/:\d+$/, ""), scheme, zone };
}

suite("the usable origins of a name", () => {
  test("are those that are neither the edge itself nor in a network that is not asked", () => {
    const { usable } = usableOrigins();
    const found = usable.of(asked(), [EDGE, "10.0.0.2", "203.0.113.1", "10.0.0.1"]);
    assert.ok(!("code" in found));
    assert.deepEqual(
      found.map(({ address }) => address),
      ["203.0.113.1", "10.0.0.1"],
    );
  });

  test("are judged once for a list", () => {
    const { usable, judged } = usableOrigins();
    const addresses = ["203.0.113.1"];
    assert.equal(usable.of(asked(), addresses), usable.of(asked(), addresses));
    assert.deepEqual(judged, addresses);
    usable.of(asked(), ["203.0.113.2"]);
    assert.deepEqual(judged, ["203.0.113.1", "203.0.113.2"]);
  });

  test("are asked as each request and its zone want it, whoever came before", () => {
    const { usable } = usableOrigins();
    const addresses = ["203.0.113.1"];
    const kinds = [
      [asked("a.test", "strict", "https"), { scheme: "https", port: 443, verifies: true }],
      [asked("a.test", "flexible", "https"), { scheme: "http", port: 80, verifies: false }],
      [asked("a.test", "strict", "http"), { scheme: "http", port: 80, verifies: true }],
      [asked("a.test:8080", "strict", "http"), { scheme: "http", port: 8080, verifies: true }],
    ] as const;
    for (const [request, expected] of [...kinds, ...kinds.toReversed()]) {
      const origin = { address: "203.0.113.1", serverName: "a.test", ...expected };
      assert.deepEqual(usable.of(request, addresses), [origin]);
    }
    const other = usable.of(asked("b.test"), addresses);
    assert.equal("code" in other || other[0]!.serverName, "b.test");
  });

  for (const [code, addresses] of Object.entries({
    origin_unknown: [],
    loop: [EDGE],
    origin_internal: ["10.0.0.2"],
  })) {
    test(`are none, and it is told why: ${code}`, () => {
      const found = usableOrigins().usable.of(asked(), addresses);
      assert.equal("code" in found && found.code, code);
    });
  }
});
