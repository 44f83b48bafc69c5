/** A thread of the S3 API that dies when the test says so. */
import { crashWhenTold } from "../test/support/crash-when-told.ts";

await import("./s3-thread.ts");
crashWhenTold();
