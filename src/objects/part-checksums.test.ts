import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { digestOf } from "./digest.ts";
import type { Algorithm } from "./model.ts";
import type { ChecksumChoice } from "./upload-model.ts";
import { checkChoice, checksumsOfParts } from "./part-checksums.ts";
import { is } from "./store.contract.ts";

const CRCS = ["crc32", "crc32c", "crc64nvme"] as const;
const COMPOSITE = ["crc32", "crc32c", "sha1", "sha256", "sha512"] as const;
const octets = [randomBytes(20), randomBytes(0), randomBytes(77), randomBytes(1)];

function partsWith(algorithm: Algorithm) {
  return octets.map((part, i) => ({
    number: i + 1,
    size: part.length,
    checksums: { [algorithm]: digestOf(algorithm, part) },
  }));
}

for (const algorithm of CRCS) {
  test(`${algorithm} of the whole is made of the parts' and their sizes`, () => {
    const value = digestOf(algorithm, Buffer.concat(octets));
    const parts = partsWith(algorithm);
    const choice = { algorithm, type: "full" } as const;
    assert.deepEqual(checksumsOfParts(choice, parts, undefined), { [algorithm]: value });
    const named = { algorithm, value: value.toUpperCase() };
    for (const chosen of [choice, null]) {
      assert.deepEqual(checksumsOfParts(chosen, parts, named), { [algorithm]: value });
      const wrong = { algorithm, value: "00" };
      assert.throws(() => checksumsOfParts(chosen, parts, wrong), is("bad-digest"));
    }
  });
}

for (const algorithm of COMPOSITE) {
  test(`a composite ${algorithm} is that of the parts' own, one behind the other`, () => {
    const parts = partsWith(algorithm);
    const all = Buffer.from(parts.map(({ checksums }) => checksums[algorithm]).join(""), "hex");
    const value = digestOf(algorithm, all);
    const choice = { algorithm, type: "composite" } as const;
    const expected = { algorithm, value };
    assert.deepEqual(checksumsOfParts(choice, parts, expected), {
      [algorithm]: value,
      isComposite: true,
    });
  });
}

test("where none was chosen or named there is none", () => {
  assert.equal(checksumsOfParts(null, partsWith("crc32"), undefined), null);
});

test("one that is not of the algorithm chosen, or that the parts lack, is wrong", () => {
  const parts = partsWith("crc32");
  const value = digestOf("crc32c", Buffer.concat(octets));
  const named = { algorithm: "crc32c", value } as const;
  const choice = { algorithm: "crc32", type: "full" } as const;
  assert.throws(() => checksumsOfParts(choice, parts, named), is("bad-digest"));
  assert.throws(() => checksumsOfParts(null, parts, named), is("bad-digest"));
});

test("hashes of the whole cannot be made of the parts', and CRC-64 is had of the whole only", () => {
  const possible: ChecksumChoice[] = [
    ...CRCS.map((algorithm) => ({ algorithm, type: "full" }) as const),
    ...COMPOSITE.map((algorithm) => ({ algorithm, type: "composite" }) as const),
  ];
  for (const choice of possible) checkChoice(choice);
  const impossible: ChecksumChoice[] = [
    { algorithm: "sha256", type: "full" },
    { algorithm: "md5", type: "full" },
    { algorithm: "crc64nvme", type: "composite" },
  ];
  for (const choice of impossible) {
    assert.throws(() => checkChoice(choice), is("bad-checksum-type"));
  }
});
