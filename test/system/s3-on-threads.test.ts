/** What holds for the S3 door on the main thread holds for it on threads of its own. */
import { serveS3OnThreads } from "../support/s3.ts";
import { suiteOf } from "../support/suite-of.ts";

serveS3OnThreads(2);

const parts = [
  "access",
  "bodies",
  "buckets",
  "forms",
  "hostile",
  "neighbours",
  "objects",
  "settings",
  "uploads",
];
for (const part of parts) {
  await suiteOf(`s3-${part} on threads`, () => import(`./s3-${part}.test.ts`));
}
