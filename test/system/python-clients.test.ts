/** Runs `python-clients.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages(["python3-cloudflare", "python3-certbot-dns-cloudflare"]);
if (missing === null) await import("./python-clients.ts");
else {
  console.error(missing);
  test("Debian's Python clients work", { skip: missing }, () => {});
}
