/** Who asks the S3 door, proved by their signature, and what they may do. */
export type { S3Action } from "#accounts";
export { type Authenticated, Authentication } from "./authentication.ts";
export type { Caller } from "./caller.ts";
export { authenticatePost } from "./post-policy.ts";
export type { SignedRequest } from "./request.ts";
