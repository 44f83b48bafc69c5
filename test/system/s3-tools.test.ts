/** Runs `s3-tools.ts` where Debian's packages are, or can be had. */
import { test } from "node:test";
import { missingDebianPackages } from "../support/debian.ts";

const PACKAGES = ["rclone", "s3cmd", "awscli", "python3-boto3", "restic"];

const missing = missingDebianPackages(PACKAGES);
if (missing === null) await import("./s3-tools.ts");
else {
  console.error(missing);
  test("Debian's S3 tools work", { skip: missing }, () => {});
}
