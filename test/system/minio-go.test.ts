/** Runs `minio-go.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const missing = missingDebianPackages(["golang-go", "golang-github-minio-minio-go-v7-dev"]);
if (missing === null) await import("./minio-go.ts");
else {
  console.error(missing);
  test("the library of mc works", { skip: missing }, () => {});
}
