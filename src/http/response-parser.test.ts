import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { ResponseParser } from "./response-parser.ts";

interface Heard {
  status: number;
  headers: readonly string[];
  length: number | null;
  body: string;
  trailers: readonly string[];
  reusable: boolean | null;
}

/** What a parser makes of these octets, however they are cut. */
function parse(pieces: readonly string[], method = "GET", closes = false) {
  const heard: Heard[] = [];
  const news: [status: number, headers: readonly string[]][] = [];
  const parser = new ResponseParser({
    interim: ({ status, headers }) => news.push([status, headers]),
    head: ({ status, headers, length }) =>
      heard.push({ status, headers, length, body: "", trailers: [], reusable: null }),
    data: (octets) => (heard.at(-1)!.body += octets.toString("latin1")),
    end: (reusable, trailers) => Object.assign(heard.at(-1)!, { reusable, trailers }),
  });
  parser.expect(method);
  let rest: Buffer | null = null;
  for (const piece of pieces) rest = parser.take(Buffer.from(piece, "latin1")) ?? rest;
  if (closes) parser.close();
  return { heard, news, rest: rest?.toString("latin1") ?? null };
}

const OK = "HTTP/1.1 200 OK\r\n";

suite("a response", () => {
  const cases: [name: string, text: string, body: string, reusable: boolean][] = [
    ["with a length", `${OK}Content-Length: 5\r\nX: y\r\n\r\nhello`, "hello", true],
    ["that is empty", `${OK}Content-Length: 0\r\n\r\n`, "", true],
    ["of 204", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
    ["of 304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", true],
    [
      "that ends its connection",
      `${OK}Connection: Close\r\nContent-Length: 1\r\n\r\nx`,
      "x",
      false,
    ],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false],
    [
      "in chunks, with extensions and a trailer",
      `${OK}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n \r\nA \r\n0123456789\r\n0\r\nX: y\r\n\r\n`,
      "hello 0123456789",
      true,
    ],
    [
      "after news on the way",
      `HTTP/1.1 103 Early\r\nLink: a\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
      "hi",
      true,
    ],
  ];
  for (const [name, text, body, reusable] of cases) {
    test(`${name}: is read the same wherever it is cut`, () => {
      for (let size = 1; size <= text.length; size++) {
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g"))!;
        const { heard } = parse(pieces);
        assert.equal(heard.length, 1);
        assert.deepEqual([heard[0]!.body, heard[0]!.reusable], [body, reusable], `by ${size}`);
      }
    });
  }

  test("to HEAD has no body, whatever its length", () => {
    const { heard } = parse([`${OK}Content-Length: 5\r\n\r\n`], "HEAD");
    assert.deepEqual([heard[0]!.length, heard[0]!.body, heard[0]!.reusable], [5, "", true]);
  });

  test("without a length ends with its connection", () => {
    const { heard } = parse([`${OK}\r\n`, "some", "thing"], "GET", true);
    assert.deepEqual(
      [heard[0]!.length, heard[0]!.body, heard[0]!.reusable],
      [null, "something", false],
    );
  });

  test("of 101 leaves what follows to the caller", () => {
    const head = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n";
    assert.deepEqual(parse([head]).rest, "");
    assert.deepEqual(parse([`${head}more`]).rest, "more");
  });

  test("keeps its headers as they came", () => {
    const { heard } = parse([
      `${OK}Set-Cookie: a\r\nset-cookie:b  \r\nEmpty:\r\nContent-Length: 0\r\n\r\n`,
    ]);
    assert.deepEqual(heard[0]!.headers.slice(0, 6), [
      "Set-Cookie",
      "a",
      "set-cookie",
      "b",
      "Empty",
      "",
    ]);
  });

  test("tells its trailers and the news before it", () => {
    const { heard, news } = parse([
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\n",
      `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nSum: 1 \r\nSum:2\r\n\r\n`,
    ]);
    assert.deepEqual(news, [
      [100, []],
      [103, ["Link", "a"]],
    ]);
    assert.deepEqual(heard[0]!.trailers, ["Sum", "1", "Sum", "2"]);
  });

  test("says its length once, and where it has no body by its status, never", () => {
    const twice = parse([`${OK}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`]);
    assert.deepEqual(twice.heard[0]!.headers, ["Content-Length", "1"]);
    const none = parse(["HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n"]);
    assert.deepEqual(none.heard[0]!.headers, []);
  });
});

suite("a fault is", () => {
  const head = (lines: string) => `${OK}${lines}\r\n\r\n`;
  const chunked = (rest: string) => `${OK}Transfer-Encoding: chunked\r\n\r\n${rest}`;
  const cases: [name: string, text: string][] = [
    ["no HTTP", "hello\r\n\r\n"],
    ["HTTP/2", "HTTP/2 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["two lengths", head("Content-Length: 1\r\nContent-Length: 2")],
    ["a length and chunks", head("Content-Length: 1\r\nTransfer-Encoding: chunked")],
    ["a length with a sign", head("Content-Length: +1")],
    ["a list of lengths", head("Content-Length: 1, 1")],
    ["another coding", head("Transfer-Encoding: gzip, chunked")],
    ["a folded header", head("A: b\r\n c")],
    ["a blank before the colon", head("A : b\r\nContent-Length: 0")],
    ["a control character", head("A: b\0c")],
    ["a bare line feed among headers", `${OK}A: b\nContent-Length: 0\r\n\r\n`],
    ["a chunk size that is no number", chunked("x\r\n")],
    ["a chunk size past all bounds", chunked("ffffffffffffff\r\n")],
    ["a chunk longer than it says", chunked("1\r\nab\r\n")],
    ["a bare line feed behind a size", chunked("1\na\r\n0\r\n\r\n")],
    ["a head without end", `HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`],
    ["a line without end", chunked(`1;${"b".repeat(9_000)}`)],
    ["a trailer that is no header", chunked("0\r\nX\r\n\r\n")],
    ["a blank before a trailer's colon", chunked("0\r\nX : y\r\n\r\n")],
    ["trailers without end", chunked(`0\r\n${"X: yyyyyyyyyyyyyyyy\r\n".repeat(500)}`)],
    ["an answer that nobody asked for", `${OK}Content-Length: 0\r\n\r\n${OK}`],
  ];
  for (const [name, text] of cases) {
    test(name, () => {
      assert.throws(() => parse([text]), { name: "ResponseFault" });
    });
  }

  test("an end before its time", () => {
    for (const text of [
      OK,
      head("Content-Length: 2").concat("a"),
      chunked("5\r\nab"),
      chunked("0\r\n"),
    ])
      assert.throws(() => parse([text], "GET", true), /broke off/);
  });
});

test("any octets are a response or a fault", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 6 }),
      (pieces) => {
        try {
          parse(pieces, "GET", true);
        } catch (error) {
          assert.equal((error as Error).name, "ResponseFault");
        }
      },
    ),
  );
});
