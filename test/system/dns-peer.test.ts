/** Runs `dns-peer.ts` where NSD is, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages(["nsd"]);
if (missing === null) await import("./dns-peer.ts");
else {
  console.error(missing);
  test("zones made by chance are answered as NSD answers them", { skip: missing }, () => {});
}
