import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { etagOfParts, Hashing, hashWhole } from "./hashing.ts";
import type { Algorithm } from "./model.ts";
import { is } from "./store.contract.ts";

const ALGORITHMS: readonly Algorithm[] = ["md5", "sha1", "sha256", "sha384", "sha512"];
const octets = randomBytes(1000);
const digest = (algorithm: string) => createHash(algorithm).update(octets).digest("hex");

for (const algorithm of ALGORITHMS) {
  test(`${algorithm} is checked and given beside MD5, of a whole as of pieces`, () => {
    const wanted = { md5: digest("md5"), [algorithm]: digest(algorithm) };
    const expected = { algorithm, value: digest(algorithm).toUpperCase() };
    const hashing = new Hashing(expected);
    for (let at = 0; at < octets.length; at += 77) hashing.update(octets.subarray(at, at + 77));
    assert.deepEqual(hashing.finish(), wanted);
    assert.deepEqual(hashWhole(octets, expected), wanted);
  });

  test(`a ${algorithm} that differs is told with both values`, () => {
    const expected = { algorithm, value: "ab" };
    const hashing = new Hashing(expected);
    hashing.update(octets);
    for (const attempt of [() => hashing.finish(), () => hashWhole(octets, expected)]) {
      assert.throws(attempt, (error: Error) => {
        assert.ok(is("bad-digest")(error));
        const name = algorithm.toUpperCase().replace("SHA", "SHA-");
        assert.equal(
          error.message,
          `The ${name} checksum you specified did not match what we received.\nYou provided a ${name} checksum with value: ab\nActual ${name} was: ${digest(algorithm)}`,
        );
        return true;
      });
    }
  });
}

test("the etag of parts is the MD5 of their binary MD5s and their number", () => {
  const parts = [randomBytes(10), randomBytes(20)].map((part) =>
    createHash("md5").update(part).digest(),
  );
  const whole = createHash("md5").update(Buffer.concat(parts)).digest("hex");
  assert.equal(etagOfParts(parts.map((part) => part.toString("hex"))), `${whole}-2`);
  assert.equal(etagOfParts([]), "d41d8cd98f00b204e9800998ecf8427e-0");
});
