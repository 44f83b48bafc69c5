/** The envelope for what never became a request. */
import type { RejectedRequest } from "#http";
import { failureBody } from "./envelope.ts";
import { rejectedMessage } from "./errors.ts";

export function rejectedBody(rejected: RejectedRequest): { type: string; body: string } {
  return { type: "application/json", body: failureBody([rejectedMessage(rejected)]) };
}
