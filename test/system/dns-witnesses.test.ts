/** Runs `dns-witnesses.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages(["bind9-dnsutils", "bind9-utils", "knot-dnsutils"]);
if (missing === null) await import("./dns-witnesses.ts");
else {
  console.error(missing);
  test("other programs understand our nameserver", { skip: missing }, () => {});
}
