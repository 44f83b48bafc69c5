/** Runs `certificates-acme.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages(["pebble", "openssl"]);
if (missing === null) await import("./certificates-acme.ts");
else {
  console.error(missing);
  test("zones get certificates by ACME", { skip: missing }, () => {});
}
