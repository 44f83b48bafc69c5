/** Every type against its vectors: text to wire, wire to text, and what must be refused. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RecordFault } from "../fault.ts";
import { recordType, recordTypes } from "./index.ts";

const FILE = new URL("../../../test/conformance/dns/records.txt", import.meta.url);

interface Vector {
  readonly line: number;
  readonly type: string;
  readonly text: string;
  /** `=` prints back as it stands, `>` prints otherwise, `!` is refused. */
  readonly mark: string;
  readonly hex: string;
}

function readVectors(): Vector[] {
  return readFileSync(FILE, "utf8")
    .split("\n")
    .flatMap((text, index) => {
      if (text === "" || text.startsWith("#")) return [];
      const match = /^(\S+) (.*) {2}([=>!])(?: {2}([0-9a-f]*))?$/.exec(text);
      assert.ok(match, `records.txt:${index + 1} is not a vector: ${text}`);
      const [, type, words, mark, hex = ""] = match as unknown as [
        string,
        string,
        string,
        string,
        string?,
      ];
      return [{ line: index + 1, type, text: words, mark, hex }];
    });
}

const vectors = readVectors();

for (const name of recordTypes.keys()) {
  test(`${name} has vectors, and they hold`, () => {
    const own = vectors.filter((vector) => vector.type === name);
    assert.ok(
      own.some((vector) => vector.mark === "="),
      `${name} has no vector`,
    );
    for (const vector of own) holds(vector);
  });
}

test("types by number alone hold their vectors", () => {
  const own = vectors.filter((vector) => vector.type.startsWith("TYPE"));
  assert.ok(own.length > 0);
  for (const vector of own) holds(vector);
});

test("no vector is of a type that is not listed", () => {
  for (const { type, line } of vectors) assert.ok(recordType(type), `records.txt:${line}: ${type}`);
});

function holds({ line, type: name, text, mark, hex }: Vector): void {
  const type = recordType(name)!;
  const where = `records.txt:${line}: ${name} ${text}`;
  if (mark === "!") {
    assert.throws(() => type.parse(text, "example.com."), RecordFault, where);
    return;
  }
  const data = type.parse(text, "example.com.");
  const wire = type.encode(data);
  assert.equal(Buffer.from(wire).toString("hex"), hex, where);
  const decoded = type.decode(wire);
  assert.deepEqual(type.encode(decoded), wire, where);
  const printed = type.print(decoded);
  if (mark === "=") assert.equal(printed, text, where);
  else assert.notEqual(printed, text, where);
  assert.deepEqual(type.encode(type.parse(printed)), wire, where);
  // The opaque form of RFC 3597 stands for every type.
  const opaque = `\\# ${wire.length} ${hex}`;
  assert.equal(type.print(type.parse(opaque)), printed, where);
}
