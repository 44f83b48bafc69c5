/** The rules of the original's documentation, and its examples. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseRoutePattern, printRoutePattern } from "./route-pattern.ts";
import { RouteTable } from "./route-table.ts";
import { is } from "./scripts.contract.ts";

const ZONE = "example.com";

/** Which of the patterns a URL takes: the script's id is the pattern. */
function taken(patterns: readonly string[], url: string): string | null {
  const table = new RouteTable();
  for (const pattern of patterns) {
    table.set(parseRoutePattern(pattern, ZONE), { scriptId: pattern });
  }
  const { protocol, hostname, pathname, search } = new URL(url);
  const scheme = protocol === "https:" ? "https" : "http";
  const found = table.match(hostname, pathname + search, scheme);
  return found === null || found === "none" ? null : found.scriptId;
}

suite("a pattern matches", () => {
  const cases: [pattern: string, url: string, does: boolean][] = [
    ["example.com", "http://example.com/", true],
    ["example.com", "https://example.com/", true],
    ["example.com", "https://example.com/a", false],
    ["example.com/", "https://example.com/?a", false],
    ["example.com/*", "https://example.com/?a", true],
    ["example.com/*", "https://www.example.com/", false],
    ["https://*.example.com/", "https://www.example.com/", true],
    ["https://*.example.com/", "http://www.example.com/", false],
    ["HTTP://Example.COM/*", "http://example.com/", true],
    ["*.example.com/", "http://www.example.com/", true],
    ["*.example.com/", "https://example.com/", false],
    ["*.example.com/", "https://a.b.example.com/", true],
    ["*example.com/", "https://example.com/", true],
    ["*example.com/", "https://www.example.com/", true],
    ["*b.example.com/*", "https://ab.example.com/", true],
    ["*b.example.com/*", "https://a.b.example.com/", true],
    ["example.com/path*", "https://example.com/path", true],
    ["example.com/path*", "https://example.com/path2", true],
    ["example.com/path*", "https://example.com/path/readme.txt", true],
    ["example.com/path/*", "https://example.com/path2", false],
    ["example.com/path/*", "https://example.com/path", false],
    ["example.com/Images/*", "https://example.com/images/a", false],
    ["example.com/images/cat.png", "https://example.com/images/cat.png?foo=bar", false],
    ["bücher.example.com/ä*", "https://xn--bcher-kva.example.com/%C3%A4pfel", true],
  ];
  for (const [pattern, url, does] of cases) {
    test(`${pattern} ${does ? "takes" : "leaves"} ${url}`, () => {
      assert.equal(taken([pattern], url), does ? pattern : null);
    });
  }
});

suite("of several patterns the most specific one wins", () => {
  const cases: [url: string, patterns: string[]][] = [
    ["https://www.example.com/", ["www.example.com/*", "*.example.com/*"]],
    ["https://example.com/hello/world", ["example.com/hello/*", "example.com/*"]],
    ["https://a.example.com/a", ["a.example.com/*", "*.example.com/a"]],
    ["https://a.b.example.com/", ["*.b.example.com/*", "*b.example.com/*", "*.example.com/*"]],
    ["https://a.example.com/", ["*.example.com/*", "*example.com/*"]],
    ["https://example.com/images/x", ["example.com/images/*", "example.com/images*"]],
    ["https://example.com/", ["example.com/", "example.com/*"]],
    ["https://example.com/", ["https://example.com/*", "example.com/*"]],
    ["https://example.com/a/", ["example.com/a/*", "https://example.com/*"]],
    ["http://example.com/a", ["example.com/*", "https://example.com/a"]],
  ];
  for (const [url, patterns] of cases) {
    test(`${patterns[0]} before ${patterns.slice(1).join(", ")}`, () => {
      assert.equal(taken(patterns, url), patterns[0]);
      assert.equal(taken(patterns.toReversed(), url), patterns[0]);
    });
  }
});

suite("no pattern is", () => {
  const cases: [pattern: string, says: RegExp][] = [
    ["", /no valid hostname/],
    ["*", /no valid hostname/],
    ["/a", /no valid hostname/],
    ["*/a", /no valid hostname/],
    ["https://", /no valid hostname/],
    ["example.com/*.jpg", /elsewhere/],
    ["example.com/**", /elsewhere/],
    ["**.example.com/", /elsewhere/],
    ["a.*.example.com/", /elsewhere/],
    ["example.com*", /elsewhere/],
    ["example.com/?a", /query/],
    ["example.com?*", /query/],
    ["example.com/#a", /fragment/],
    ["example.com:8080/", /port/],
    ["ftp://example.com/", /scheme/],
    ["example.org/", /not for a name in the zone example.com/],
    ["myexample.com/", /not for a name in the zone/],
    ["*ample.com/", /not for a name in the zone/],
    ["example.com./", /no valid hostname/],
    ["a..example.com/", /no valid hostname/],
    [".example.com/", /no valid hostname/],
    ["*..example.com/", /no valid hostname/],
    ["user@example.com/", /no valid hostname/],
    ["exa mple.com/", /white space/],
    ["example.com/a b", /white space/],
    ["example.com/\n", /white space/],
    [`example.com/${"a".repeat(1_024)}`, /more than 1024/],
  ];
  for (const [pattern, says] of cases) {
    test(JSON.stringify(pattern.slice(0, 40)), () => {
      const parse = () => parseRoutePattern(pattern, ZONE);
      assert.throws(parse, is("invalid", says));
      assert.throws(parse, is("invalid", /^pattern: /));
    });
  }
});

test("spellings of the same pattern have one form", () => {
  const forms = [
    ["Example.com", "example.com/"],
    ["HTTPS://*.Example.com/A*", "https://*.example.com/A*"],
    ["bücher.example.com/ä*", "xn--bcher-kva.example.com/%C3%A4*"],
  ] as const;
  for (const [given, form] of forms) {
    const printed = printRoutePattern(parseRoutePattern(given, ZONE));
    assert.equal(printed, form);
    assert.equal(printRoutePattern(parseRoutePattern(printed, ZONE)), form);
  }
});
