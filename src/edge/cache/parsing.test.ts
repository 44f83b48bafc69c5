import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { cpuMsOf } from "../../../test/support/patience.ts";
import { parseCacheControl, secondsOf } from "./cache-control.ts";
import { parseHttpDate } from "./http-date.ts";
import { NOW } from "./origin.contract.ts";
import { wantedPart } from "./ranges.ts";
import { clientHasIt } from "./validators.ts";
import { variantOf, varyNames } from "./vary.ts";

suite("dates (RFC 9110 §5.6.7)", () => {
  const moment = Date.UTC(1994, 10, 6, 8, 49, 37);
  const cases: [text: string, time: number | null][] = [
    ["Sun, 06 Nov 1994 08:49:37 GMT", moment],
    ["Sunday, 06-Nov-94 08:49:37 GMT", moment],
    ["Sun Nov  6 08:49:37 1994", moment],
    ["Friday, 06-Nov-76 08:49:37 GMT", Date.UTC(2076, 10, 6, 8, 49, 37)],
    ["Sunday, 06-Nov-77 08:49:37 GMT", Date.UTC(1977, 10, 6, 8, 49, 37)],
    ["Sun, 06 Nov 1994 08:49:37 +0000", null],
    ["Sun, 06 nov 1994 08:49:37 GMT", null],
    ["Sun, 31 Feb 1994 08:49:37 GMT", null],
    ["Sun, 06 Nov 1994 25:49:37 GMT", null],
    ["Sun, 00 Nov 1994 08:49:37 GMT", null],
    ["1994-11-06T08:49:37Z", null],
    ["0", null],
    ["", null],
  ];
  for (const [text, time] of cases) {
    test(`"${text}"`, () => assert.equal(parseHttpDate(text, NOW), time));
  }
  test("are read as they are printed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        assert.equal(parseHttpDate(new Date(seconds * 1000).toUTCString(), NOW), seconds * 1000);
      }),
    );
  });
});

suite("Cache-Control (RFC 9111 §5.2)", () => {
  const cases: [text: string, directives: [string, string | null][]][] = [
    ["", []],
    ["no-store", [["no-store", null]]],
    [
      "max-age=5,no-cache",
      [
        ["max-age", "5"],
        ["no-cache", null],
      ],
    ],
    [
      " , max-age = 5 ,, public ",
      [
        ["max-age", null],
        ["public", null],
      ],
    ],
    [
      'private="a, b", x',
      [
        ["private", "a, b"],
        ["x", null],
      ],
    ],
    [
      String.raw`x="a\"b", y`,
      [
        ["x", 'a"b'],
        ["y", null],
      ],
    ],
    ['=5, "q", max-age=1', [["max-age", "1"]]],
    [
      "max-age=5 ; x, y",
      [
        ["max-age", "5"],
        ["y", null],
      ],
    ],
    ['x="open', [["x", ""]]],
  ];
  for (const [text, directives] of cases) {
    test(`'${text}'`, () => assert.deepEqual([...parseCacheControl(text)], directives));
  }
  test("takes any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (text) => {
        for (const name of parseCacheControl(text).keys()) {
          assert.ok((secondsOf(parseCacheControl(text), name) ?? 0) >= 0);
        }
      }),
    );
  });
});

test("a header of any shape is read in time that grows with its length alone", () => {
  const parts = ["=", '"', ",", "a=", 'a="', '\\"', " ", ", ", "=,", ";", "W/", "-", "*", ";q=1.0"];
  for (const part of parts) {
    for (const text of [part.repeat(32_768), `bytes=${part.repeat(32_768)}x`]) {
      const ms = cpuMsOf(() => {
        parseCacheControl(text);
        wantedPart(text, 10);
        variantOf(["accept-encoding", "x-a"], { "accept-encoding": text, "x-a": text });
        clientHasIt(["ETag", '"1"'], { "if-none-match": text }, NOW);
        parseHttpDate(text, NOW);
      });
      assert.ok(ms < 2_000, `${part}: ${ms} ms is far more than linear`);
    }
  }
});

suite("ranges (RFC 9110 §14.1.2)", () => {
  test("lie within the body, and are what was asked for", () => {
    const part = fc.oneof(fc.nat(200).map(String), fc.constant(""));
    fc.assert(
      fc.property(part, part, fc.nat(100), (first, last, length) => {
        const wanted = wantedPart(`bytes=${first}-${last}`, length);
        if (typeof wanted === "string") {
          if (wanted === "unsatisfiable") assert.ok(first === "" || Number(first) >= length);
          return;
        }
        const { start, end } = wanted;
        assert.ok(start >= 0 && start < end && end <= length);
        if (first !== "") assert.equal(start, Number(first));
        else assert.equal(end - start, Math.min(Number(last), length));
      }),
    );
  });
  test("of other shapes are left aside", () => {
    for (const range of [
      "bytes=1-2,3-4",
      "bytes=4-2",
      "bytes=-",
      "items=1-2",
      "1-2",
      "bytes=a-b",
    ]) {
      assert.equal(wantedPart(range, 10), "whole", range);
    }
  });
});

suite("variants (RFC 9111 §4.1)", () => {
  test("do not differ by what says nothing", () => {
    const same = (name: string, one: string | string[], other: string | string[]) =>
      assert.equal(variantOf([name], { [name]: one }), variantOf([name], { [name]: other }));
    same("accept-encoding", "gzip, br", "br,gzip");
    same("accept-encoding", "gzip;q=1.0, BR", "br, gzip");
    same("accept-language", "de , en; q=0.5", "de,en;q=0.5");
    same("x-a", ["1", "2"], "1, 2");
  });
  test("differ by what says something", () => {
    const variants = [
      {},
      { a: "" },
      { a: "x" },
      { b: "x" },
      { a: "x", b: "x" },
      { a: "X" },
      { a: "y, x" },
      { a: "x, y" },
    ];
    assert.equal(new Set(variants.map((one) => variantOf(["a", "b"], one))).size, variants.length);
  });
  test("are named in one order", () => {
    assert.deepEqual(varyNames(["Vary", "B, a", "VARY", "c,A"]), ["a", "b", "c"]);
    assert.deepEqual(varyNames(["X", "y"]), []);
  });
});

test("a client's date is held against the time of arrival when there is no other (9110 §13.1.3)", () => {
  const since = new Date(NOW).toUTCString();
  assert.ok(clientHasIt([], { "if-modified-since": since }, NOW));
  assert.ok(!clientHasIt([], { "if-modified-since": since }, NOW + 1000));
  assert.ok(!clientHasIt([], { "if-modified-since": "never" }, NOW));
});
