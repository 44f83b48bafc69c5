import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHostPort, printHostPort } from "./address.ts";

test("HOST:PORT is read and printed back, with IPv6 in brackets", () => {
  for (const text of ["127.0.0.1:8700", "[::1]:53", "localhost:0", "a-b.example:65535"]) {
    assert.equal(printHostPort(parseHostPort(text)), text);
  }
});

test("what is not HOST:PORT is refused with the form that is wanted", () => {
  for (const text of [
    "",
    "8700",
    ":8700",
    "127.0.0.1",
    "::1:53",
    "[::1]",
    "a b:1",
    "http://x:1",
    "x:-1",
  ]) {
    assert.throws(() => parseHostPort(text), /expected HOST:PORT/, text);
  }
  assert.throws(() => parseHostPort("127.0.0.1:65536"), /port must be from 0 to 65535/);
});
