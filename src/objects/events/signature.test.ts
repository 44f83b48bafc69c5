import assert from "node:assert/strict";
import { test } from "node:test";
import { isSecret, newSecret, signedHeaders } from "./signature.ts";

test("a message is signed as the example of Standard Webhooks is", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const body = '{"test": 2432232314}';
  assert.deepEqual(signedHeaders(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_999, body), {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("a secret is 24 to 64 octets in base64 behind its prefix", () => {
  const of = (octets: number) => `whsec_${Buffer.alloc(octets).toString("base64")}`;
  for (const good of [newSecret(), of(24), of(64)]) assert.ok(isSecret(good), good);
  for (const bad of ["", "whsec_", of(23), of(65), of(32).slice(6), `${of(32)} `, "whsec_%%%%"]) {
    assert.ok(!isSecret(bad), bad);
  }
});
