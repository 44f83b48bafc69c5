/** The address of a public bucket. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommandContext } from "../context.ts";
import { publicUrl } from "./public-access.ts";

test("a public bucket's address is one that can be opened", () => {
  const at = (domain: string) => {
    const context = { serverUrl: "http://storage.test:8700" } as CommandContext;
    return publicUrl(context, { domain, enabled: true, listing: false });
  };
  assert.equal(at("192.0.2.1:9000/photos"), "http://192.0.2.1:9000/photos");
  assert.equal(at("[2001:db8::1]:9000/photos"), "http://[2001:db8::1]:9000/photos");
  // S3 listens on every address of the server, and so on the one that the API was reached by.
  assert.equal(at("0.0.0.0:9000/photos"), "http://storage.test:9000/photos");
  assert.equal(at("[::]:9000/photos"), "http://storage.test:9000/photos");
  assert.equal(at("/photos"), null, "S3 is off");
});
