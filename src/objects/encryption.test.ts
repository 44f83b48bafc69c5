import assert from "node:assert/strict";
import { createCipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { test } from "node:test";
import { type Encryption, newIv, Seal } from "./encryption.ts";
import { is } from "./store.contract.ts";

const key = randomBytes(32);
const octets = randomBytes(1000);

/** As anyone with the key could read it: what is kept says how. */
function witness(encryption: Encryption, iv: string, sealed: Uint8Array): Buffer {
  const salt = Buffer.from(encryption.salt, "hex");
  const dataKey = Buffer.from(hkdfSync("sha256", key, salt, "selvedge customer key 1", 64), 0, 32);
  return createCipheriv("aes-256-ctr", dataKey, Buffer.from(iv, "hex")).update(sealed);
}

test("what is sealed opens with the same key, from any place on", () => {
  const seal = Seal.begin({ key });
  for (const iv of [newIv(), "f".repeat(32), `${"f".repeat(30)}f0`, "0".repeat(32)]) {
    const sealed = seal.cipher(iv)(octets);
    assert.notDeepEqual(Buffer.from(sealed), octets);
    assert.deepEqual(witness(seal.encryption, iv, sealed), octets);
    const opened = Seal.open(seal.encryption, { key })!;
    for (const offset of [0, 1, 15, 16, 17, 255, 256, 999, 1000]) {
      const cipher = opened.cipher(iv, offset);
      const pieces = [sealed.subarray(offset, offset + 3), sealed.subarray(offset + 3)];
      const plain = Buffer.concat(pieces.map((piece) => cipher(piece)));
      assert.deepEqual(plain, octets.subarray(offset), `${iv} from ${offset}`);
    }
  }
});

test("the counter goes on past 2^32 blocks", () => {
  const seal = Seal.begin({ key });
  const offset = 2 ** 36 + 16;
  const at = Buffer.from("00000000000000000000000100000001", "hex").toString("hex");
  const far = seal.cipher("0".repeat(32), offset)(octets);
  assert.deepEqual(Buffer.from(far), Buffer.from(seal.cipher(at)(octets)));
});

test("the same octets under the same key are never kept alike", () => {
  const [one, other] = [Seal.begin({ key }), Seal.begin({ key })];
  const iv = newIv();
  assert.notDeepEqual(one.cipher(iv)(octets), other.cipher(iv)(octets));
  assert.notDeepEqual(one.cipher(newIv())(octets), one.cipher(newIv())(octets));
});

test("what is kept is the MD5 of the key, and nothing else of it", () => {
  const { keyMd5, salt, check, ...rest } = Seal.begin({ key }).encryption;
  assert.equal(keyMd5, createHash("md5").update(key).digest("base64"));
  assert.match(salt, /^[0-9a-f]{32}$/);
  assert.match(check, /^[0-9a-f]{64}$/);
  assert.deepEqual(rest, {});
  const dataKey = Buffer.from(hkdfSync("sha256", key, Buffer.from(salt, "hex"), "", 32));
  assert.ok(![key.toString("hex"), dataKey.toString("hex")].includes(check));
});

test("no key, another, one for what needs none, and one that is too short are faults", () => {
  const { encryption } = Seal.begin({ key });
  assert.throws(() => Seal.open(encryption, undefined), is("key-required"));
  assert.throws(() => Seal.open(encryption, { key: randomBytes(32) }), is("bad-key-for-object"));
  assert.throws(() => Seal.open(encryption, { key: key.subarray(1) }), is("bad-key-for-object"));
  assert.throws(() => Seal.open(null, { key }), is("bad-key-for-object"));
  assert.throws(() => Seal.begin({ key: key.subarray(1) }), is("bad-key-for-object"));
  assert.equal(Seal.open(null, undefined), null);
});
