import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { HmacKey } from "./hmac.ts";

test("texts of every length are signed as Node signs them, one after another with the same key", () => {
  const secret = Buffer.from(
    "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
    "hex",
  );
  const key = new HmacKey(secret);
  const texts = ["", "a", "é", "what do ya want for nothing?", "€".repeat(320), "€".repeat(321)];
  for (const text of [...texts, ...texts.toReversed(), "a".repeat(5_000)]) {
    assert.equal(key.sign(text), createHmac("sha256", secret).update(text).digest("hex"));
  }
});
