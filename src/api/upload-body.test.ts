import assert from "node:assert/strict";
import { test } from "node:test";
import { isJavaScript, uploadParts } from "./upload-body.ts";

const read = (body: string, type: string) =>
  uploadParts(Buffer.from(body), type).map(({ content, ...part }) => ({
    ...part,
    text: Buffer.from(content).toString(),
  }));

const FORM = '--b-1\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b-1--\r\n';

test("a form that calls itself JavaScript is a form", () => {
  const expected = [{ name: "a", filename: null, type: "", text: "x" }];
  for (const type of [
    "application/javascript",
    "application/javascript+module; charset=utf-8",
    "multipart/form-data; boundary=b-1",
  ]) {
    assert.deepEqual(read(FORM, type), expected);
  }
});

test("JavaScript is a script, or a module if it says so", () => {
  const code = "--b\nContent-Disposition: this is no form";
  assert.deepEqual(read(code, "application/javascript; charset=utf-8"), [
    { name: "script", filename: null, type: "application/javascript", text: code },
  ]);
  assert.deepEqual(read(code, "Text/JavaScript+Module"), [
    { name: "worker.js", filename: null, type: "text/javascript+module", text: code },
  ]);
});

test("other types are none of JavaScript", () => {
  for (const type of [
    "",
    "application/json",
    "application/javascript2",
    "x; application/javascript",
  ])
    assert.equal(isJavaScript(type), false, type);
});
