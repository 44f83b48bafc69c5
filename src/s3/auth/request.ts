/** A request as signatures see it. */
import type { CredentialScope } from "./credential-scope.ts";

export interface SignedRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly rawPath: string;
  /** Percent-decoded, in the order sent. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Names in lower case; the values of a repeated one with commas between. Octets as Latin-1. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names of this server that the client may have signed, the likeliest first. */
  readonly hosts: readonly string[];
}

/** From when on, and until when. */
export interface Life {
  readonly from: number;
  readonly until: number;
}

/** Who says to have signed a request, and how. None of it is proved yet. */
export interface Claim {
  readonly credential: CredentialScope;
  /** As in `x-amz-date`. */
  readonly time: string;
  /** Lower case, sorted. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** SHA-256 of the body in hex, or one of the words that stand for it. */
  readonly payloadHash: string;
  readonly sessionToken: string | null;
  /** Of a URL that may be used again. */
  readonly life: Life | null;
  /** What is signed of the query. */
  readonly query: SignedRequest["query"];
  /** Headers of S3's that a presigned URL has in its query, with their names in lower case. */
  readonly hoisted: SignedRequest["query"];
}
