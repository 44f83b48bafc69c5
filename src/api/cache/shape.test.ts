import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkShape } from "../check.ts";
import { ApiError } from "../errors.ts";
import { purgeInput, purgesOf } from "./shape.ts";

const zone = { id: "z", name: "example.com" };
const read = (body: unknown, dropsQuery = false) =>
  purgesOf(zone, checkShape(purgeInput, body), dropsQuery).map(({ kind, value }) => [kind, value]);

suite("what a purge names", () => {
  const cases: [body: unknown, purges: string[][]][] = [
    [{ purge_everything: true }, [["everything", ""]]],
    [
      {
        files: [
          "https://www.EXAMPLE.com/a?b=1#c",
          { url: "http://example.com", headers: { A: "b" } },
        ],
      },
      [
        ["url", "www.example.com/a?b=1"],
        ["url", "example.com/"],
      ],
    ],
    [
      { hosts: ["WWW.example.com", "example.com"] },
      [
        ["host", "www.example.com"],
        ["host", "example.com"],
      ],
    ],
    [
      { prefixes: ["www.example.com/a", "example.com"] },
      [
        ["prefix", "www.example.com/a"],
        ["prefix", "example.com/"],
      ],
    ],
  ];
  for (const [body, purges] of cases) {
    test(JSON.stringify(body), () => assert.deepEqual(read(body), purges));
  }
  test("is without its query where the zone's keys are", () => {
    assert.deepEqual(read({ files: ["https://example.com/a?b"] }, true), [
      ["url", "example.com/a"],
    ]);
  });
});

suite("a purge is refused", () => {
  const cases: [body: unknown, pointer: string, message: RegExp][] = [
    [{}, "", /one of files, hosts, prefixes and purge_everything/],
    [{ purge_everything: false }, "/purge_everything", /expected true/],
    [{ purge_everything: true, hosts: ["example.com"] }, "", /must have one of/],
    [{ tags: ["a"] }, "/tags", /no tags here/],
    [{ files: [] }, "/files", /Too small/],
    [{ files: ["/a"] }, "/files/0", /files\.0 must be a URL/],
    [{ files: ["ftp://example.com/"] }, "/files/0", /must be a URL/],
    [
      { files: ["https://example.com/", "https://example.org/"] },
      "/files/1",
      /in the zone example\.com/,
    ],
    [{ files: ["https://notexample.com/"] }, "/files/0", /in the zone/],
    [{ hosts: ["https://example.com"] }, "/hosts/0", /must be a hostname/],
    [{ prefixes: ["https://example.com/a"] }, "/prefixes/0", /without scheme/],
    [{ prefixes: ["example.com/a?b"] }, "/prefixes/0", /query/],
  ];
  for (const [body, pointer, message] of cases) {
    test(JSON.stringify(body), () => {
      assert.throws(
        () => read(body),
        (error) => {
          assert.ok(error instanceof ApiError);
          assert.equal(error.errors[0]?.source?.pointer, pointer);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
