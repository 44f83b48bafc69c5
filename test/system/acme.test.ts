/** Runs `acme.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages([
  "pebble",
  "lego",
  "certbot",
  "python3-certbot-dns-cloudflare",
  "openssl",
  "curl",
]);
if (missing === null) await import("./acme.ts");
else {
  console.error(missing);
  test("ACME clients get certificates", { skip: missing }, () => {});
}
