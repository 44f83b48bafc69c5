import assert from "node:assert/strict";
import { test } from "node:test";
import { COOKIE, Cookies, type CookieVerdict } from "./cookies.ts";

const SECRET = hex("e5e973e5a6b2a43f48e7dc849e37bfcf");
const CLIENT = Uint8Array.of(198, 51, 100, 100);
/** RFC 9018 A.1: made at this time for that client. */
const MADE_AT = 1_559_731_985;
const MADE = "2464c4abcf10c957010000005cf79f111f8130c3eee29480";

test("the cookies of RFC 9018's appendix come out", () => {
  const other = Uint8Array.of(203, 0, 113, 203);
  const v6 = hex("20010db80220000159ded0f4876982b8");
  const rolled = hex("445536bcd2513298075a5d379663c962");
  assert.equal(make(SECRET, MADE_AT, "2464c4abcf10c957", CLIENT), MADE, "A.1");
  assert.equal(
    make(SECRET, 1_559_734_385, "2464c4abcf10c957", CLIENT),
    "2464c4abcf10c957010000005cf7a871d4a564a1442aca77",
    "A.2",
  );
  assert.equal(
    make(SECRET, 1_559_734_700, "fc93fc62807ddb86", other),
    "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e",
    "A.3",
  );
  assert.equal(
    make(rolled, 1_559_741_961, "22681ab97d52c298", v6),
    "22681ab97d52c298010000005cf7c609a6bb79d16625507a",
    "A.4",
  );
});

test("reserved octets that are not zero are hashed as they came, as in A.3", () => {
  const cookie = "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5";
  const cookies = new Cookies(SECRET, null);
  assert.equal(check(cookies, 0x5cf78f71, cookie, Uint8Array.of(203, 0, 113, 203)), COOKIE.valid);
});

test("a cookie of the secret before is good and is to be renewed, as in A.4", () => {
  const old = hex("dd3bdf9344b678b185a6f5cb60fca715");
  const fresh = hex("445536bcd2513298075a5d379663c962");
  const v6 = hex("20010db80220000159ded0f4876982b8");
  const cookie = "22681ab97d52c298010000005cf7c57926556bd0934c72f8";
  const at = 1_559_741_961;
  assert.equal(check(new Cookies(fresh, old), at, cookie, v6), COOKIE.renew);
  assert.equal(check(new Cookies(fresh, null), at, cookie, v6), COOKIE.invalid);
  assert.equal(check(new Cookies(old, null), at, cookie, v6), COOKIE.valid);
});

test("a cookie is good from five minutes before its time to an hour after", () => {
  const cookies = new Cookies(SECRET, null);
  const cases: [age: number, verdict: CookieVerdict][] = [
    [-301, COOKIE.invalid],
    [-300, COOKIE.valid],
    [0, COOKIE.valid],
    [1800, COOKIE.valid],
    [1801, COOKIE.renew],
    [3600, COOKIE.renew],
    [3601, COOKIE.invalid],
  ];
  for (const [age, verdict] of cases) {
    assert.equal(check(cookies, MADE_AT + age, MADE, CLIENT), verdict, `${age} s old`);
  }
});

test("a cookie lives on when the 32 bits of its time run over", () => {
  const cookies = new Cookies(SECRET, null);
  const cookie = make(SECRET, 2 ** 32 - 100, "2464c4abcf10c957", CLIENT);
  assert.equal(check(cookies, 2 ** 32 + 400, cookie, CLIENT), COOKIE.valid);
  assert.equal(check(cookies, 2 ** 32 + 3501, cookie, CLIENT), COOKIE.invalid);
});

test("a cookie with any bit changed, or from another address, is worth nothing", () => {
  const cookies = new Cookies(SECRET, null);
  const good = hex(MADE);
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bad = Uint8Array.from(good);
    bad[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(cookies.check(MADE_AT, bad, 0, CLIENT, 4), COOKIE.invalid, `bit ${bit}`);
  }
  assert.equal(
    cookies.check(MADE_AT, good, 0, Uint8Array.of(198, 51, 100, 101), 4),
    COOKIE.invalid,
  );
  assert.equal(cookies.check(MADE_AT, good, 0, new Uint8Array(16), 16), COOKIE.invalid);
});

test("octets around the cookie and behind a short address do not count", () => {
  const cookies = new Cookies(SECRET, null);
  const query = new Uint8Array(40).fill(0x55);
  query.set(hex(MADE), 9);
  const address = new Uint8Array(16).fill(0x77);
  address.set(CLIENT);
  assert.equal(cookies.check(MADE_AT, query, 9, address, 4), COOKIE.valid);
  const reply = new Uint8Array(20).fill(0x33);
  cookies.make(MADE_AT, query, 9, address, 4, reply, 2);
  assert.equal(Buffer.from(reply).toString("hex"), `3333${MADE.slice(16)}3333`);
});

function make(secret: Uint8Array, at: number, client: string, address: Uint8Array): string {
  const out = new Uint8Array(16);
  new Cookies(secret, null).make(at, hex(client), 0, address, address.length, out, 0);
  return client + Buffer.from(out).toString("hex");
}

function check(cookies: Cookies, now: number, cookie: string, address: Uint8Array): CookieVerdict {
  return cookies.check(now, hex(cookie), 0, address, address.length);
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}
