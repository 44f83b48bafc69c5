import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { S3Fault } from "../fault.ts";
import { readForm } from "./form-data.ts";

const BOUNDARY = "--edge-7MA4YWxk";
const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (content: string, filename = "a.txt") =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n` +
  `Content-Type: text/plain\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const octets = Buffer.from(text);
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

async function read(text: string, size = 1 << 16) {
  const form = await readForm(pieces(text, size), BOUNDARY);
  let content = "";
  for await (const piece of form.body) content += Buffer.from(piece).toString("latin1");
  return { ...form, content };
}

const isFault = (code: string) => (error: unknown) => {
  assert(error instanceof S3Fault, String(error));
  assert.equal(error.code, code, error.message);
  return true;
};

suite("an upload by form", () => {
  test("has fields and a file, wherever it is cut", async () => {
    const content = `one\r\n--${BOUNDARY.slice(0, -1)}\r\n-two\r`;
    const text =
      field("Key", "x/${filename}") + field("x-amz-meta-a", "é\r\nb") + file(content) + END;
    for (let size = 1; size <= Buffer.byteLength(text); size++) {
      const { fields, filename, content: got } = await read(text, size);
      assert.deepEqual(
        [...fields],
        [
          ["key", "x/${filename}"],
          ["x-amz-meta-a", "é\r\nb"],
        ],
      );
      assert.equal(filename, "a.txt");
      assert.equal(got, content);
    }
  });

  test("has its file last: what follows is passed over", async () => {
    const { fields, content } = await read(file("") + field("late", "x") + END);
    assert.deepEqual([fields.size, content], [0, ""]);
  });

  test("names its file without the folders of the sender's machine", async () => {
    for (const path of ["C:\\pictures\\me.png", "/home/me.png", "me.png"]) {
      assert.equal((await read(file("x", path) + END)).filename, "me.png");
    }
  });

  test("gives its file on as it comes", async () => {
    const begun = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(file("x".repeat(1_000)).slice(0, 600));
      await begun.promise;
      yield Buffer.from(file("x".repeat(1_000)).slice(600) + END);
    }
    const { body } = await readForm(slow(), BOUNDARY);
    let octets = 0;
    for await (const piece of body) {
      octets += piece.length;
      begun.resolve();
    }
    assert.equal(octets, 1_000);
  });

  for (const [what, text, code] of [
    ["without a file", field("key", "x") + END, "IncorrectNumberOfFilesInPostRequest"],
    ["without an end", file("x"), "MalformedPOSTRequest"],
    ["without anything", "", "MalformedPOSTRequest"],
    ["that is none", "hello".repeat(100), "MalformedPOSTRequest"],
    ["whose part has no name", `--${BOUNDARY}\r\nX: y\r\n\r\nz\r\n${END}`, "MalformedPOSTRequest"],
    [
      "with a field twice",
      field("a", "1") + field("A", "2") + file("x") + END,
      "MalformedPOSTRequest",
    ],
    [
      "with huge fields",
      field("a", "x".repeat(30_000)) + file("x") + END,
      "MaxMessageLengthExceeded",
    ],
    ["that never comes to a part", "x".repeat(30_000), "MaxMessageLengthExceeded"],
  ] as const) {
    test(`${what} is ${code}`, async () => {
      for (const size of [1, 100, 1 << 16]) await assert.rejects(read(text, size), isFault(code));
    });
  }
});
