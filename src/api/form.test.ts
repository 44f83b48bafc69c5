import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { boundaryOf, type FormPart, formParts } from "./form.ts";

const TYPE = "multipart/form-data; boundary=b";
const read = (text: string, type = TYPE) =>
  formParts(Buffer.from(text, "latin1"), boundaryOf(type));
const shown = ({ content, ...part }: FormPart) => ({
  ...part,
  text: Buffer.from(content).toString(),
});
const field = (name: string, text: string) => ({ name, filename: null, type: "", text });

test("fields and files are read with their names and types", () => {
  const form = [
    "--b",
    'Content-Disposition: form-data; name="plain"',
    "",
    "text",
    "--b  ", // Spaces may follow. RFC 2046 §5.1.1.
    'content-disposition: form-data; filename="a/b.js"; name=file',
    "Content-Type: Application/JavaScript+Module; charset=utf-8",
    "",
    "--bold\r\n--",
    "--b--",
    "what follows is nothing",
  ].join("\r\n");
  assert.deepEqual(read(form).map(shown), [
    field("plain", "text"),
    {
      name: "file",
      filename: "a/b.js",
      type: "application/javascript+module",
      text: "--bold\r\n--",
    },
  ]);
});

test("a form may have a preamble, empty parts, and none at all", () => {
  const empty = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--b--';
  assert.deepEqual(read(empty).map(shown), [field("a", "")]);
  assert.deepEqual(read(`hello\r\n${empty}`).map(shown), [field("a", "")]);
  assert.deepEqual(read("--b--"), []);
  assert.deepEqual(read("--x y--", 'multipart/form-data; boundary="x y"'), []);
});

test("a name is one name, whatever stands in it", () => {
  const name = "a; filename=x; name=y";
  const form = `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n--b--`;
  assert.deepEqual(read(form).map(shown), [field(name, "")]);
});

test("a form that is not whole or not in form is refused with the reason", () => {
  const name = 'Content-Disposition: form-data; name="a"';
  for (const [form, why] of [
    ["", /no end/],
    ["--b\r\n", /no end of headers/],
    [`--b\r\n${name}\r\n\r\ntext`, /no end/],
    [`--b\r\n${name}\r\n\r\ntext\r\n--b`, /no end/],
    ["--b\r\n\r\n\r\n--b--", /without a name/],
    ["--b\r\nnonsense\r\n\r\n\r\n--b--", /without a name/],
    ["--b\r\nContent-Type: text/plain\r\n\r\n\r\n--b--", /no name/],
    ["--b\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--b--", /no name/],
    [`--b\r\nX: ${"x".repeat(9_000)}\r\n\r\n\r\n--b--`, /end of headers/],
    [`${`--b\r\n${name}\r\n\r\n\r\n`.repeat(2_001)}--b--`, /more than 2000 parts/],
  ] as const) {
    assert.throws(() => read(form), why);
  }
  for (const type of [
    "multipart/form-data",
    "multipart/form-data; boundary=",
    `multipart/form-data; boundary=${"x".repeat(71)}`,
  ]) {
    assert.throws(() => read("--b--", type), /no boundary/);
  }
});

test("what a FormData holds arrives as it was", async () => {
  const text = fc.string({ unit: "binary", maxLength: 30 }).map((any) => any.toWellFormed());
  const octets = fc.uint8Array({ maxLength: 60 });
  const entry = fc.record({
    name: text,
    filename: fc.option(text.filter((any) => any !== "")),
    octets,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
      const form = new FormData();
      for (const { name, filename, octets } of entries) {
        const content = new Uint8Array(octets);
        if (filename === null) form.append(name, Buffer.from(content).toString("hex"));
        else form.append(name, new File([content], filename, { type: "a/b" }));
      }
      const whole = new Response(form);
      const body = Buffer.from(await whole.arrayBuffer());
      const parts = formParts(body, boundaryOf(whole.headers.get("content-type")!));
      const expected = await Promise.all(
        [...form].map(async ([name, value]) =>
          typeof value === "string"
            ? [crlf(name), null, Buffer.from(value).toString("hex")]
            : [crlf(name), value.name, Buffer.from(await value.bytes()).toString("hex")],
        ),
      );
      const found = parts.map((part) => [
        part.name,
        part.filename,
        Buffer.from(part.content).toString("hex"),
      ]);
      assert.deepEqual(found, expected);
    }),
    { numRuns: 300 },
  );
});

/** Names are sent with whole line breaks. */
function crlf(name: string): string {
  return name.replaceAll(/\r\n|\r|\n/g, "\r\n");
}

test("random octets are read or refused, and nothing else happens", () => {
  const pieces = [
    "--b",
    "\r\n",
    "--",
    'Content-Disposition: form-data; name="a"',
    ":",
    ";",
    "\0",
    "x",
    "\r",
    "\n",
    " ",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (chosen) => {
      try {
        read(chosen.join(""));
      } catch (error) {
        assert.match((error as Error).message, /^Malformed form/);
      }
    }),
    { numRuns: 2_000 },
  );
});
