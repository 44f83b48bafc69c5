import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { HashThread } from "./hash-thread.ts";
import { etagOfParts, type Hashing, hashHere, hashOnThread, hashWhole } from "./hashing.ts";
import type { Algorithm } from "./model.ts";
import { is } from "./store.contract.ts";

const ALGORITHMS: readonly Algorithm[] = ["md5", "sha1", "sha256", "sha384", "sha512"];
const octets = randomBytes(1000);
const digest = (algorithm: string) => createHash(algorithm).update(octets).digest("hex");

const thread = new HashThread();
after(() => thread[Symbol.asyncDispose]());

for (const algorithm of ALGORITHMS) {
  const begin = (value: string) => [
    hashHere({ algorithm, value }),
    hashOnThread(thread, { algorithm, value }),
  ];
  const whole = async (hashing: Hashing) => {
    for (let at = 0; at < octets.length; at += 77)
      await hashing.update(octets.subarray(at, at + 77));
    return hashing.finish();
  };

  test(`${algorithm} is checked and given beside MD5, of a whole as of pieces`, async () => {
    const wanted = { md5: digest("md5"), [algorithm]: digest(algorithm) };
    const value = digest(algorithm).toUpperCase();
    for (const hashing of begin(value)) assert.deepEqual(await whole(hashing), wanted);
    assert.deepEqual(hashWhole(octets, { algorithm, value }), wanted);
  });

  test(`a ${algorithm} that differs is told with both values`, async () => {
    const [here, there] = begin("ab").map((hashing) => () => whole(hashing));
    const atOnce = async () => hashWhole(octets, { algorithm, value: "ab" });
    for (const attempt of [here!, there!, atOnce]) {
      await assert.rejects(attempt, (error: Error) => {
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
