/**
 * The S3 API: a thin door on the object store. `door.ts` is the frame: it reads what a request is about
 * (`target.ts`), which operation it asks for (`routes.ts`), who asks (`auth/`), and whether they may; a file of
 * `operations/` does the rest. `payload/` takes bodies out of their framing.
 */
export { Authentication } from "./auth/index.ts";
export { type S3Door, s3Door } from "./door.ts";
export { S3Figures } from "./figures.ts";
export { publicBucketDoor } from "./public/public-bucket-door.ts";
