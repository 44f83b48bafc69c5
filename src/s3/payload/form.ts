/** How a body is framed, and what it must add up to: what the head of a request says of it. */

export interface PayloadForm {
  /** What `x-amz-content-sha256` says, or stands for it. */
  readonly sha256: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Headers of S3's that a presigned request has in its query instead, with their names in lower case. */
  readonly hoisted: readonly (readonly [name: string, value: string])[];
  /** What signs the chunks of a body; null where nothing is signed. */
  readonly signing: ChunkSigning | null;
}

export interface ChunkSigning {
  readonly key: Buffer;
  readonly time: string;
  readonly scope: string;
  /** The signature of the request itself. */
  readonly seed: string;
}

/** The framing that a word in `x-amz-content-sha256` stands for. */
export interface Framing {
  readonly isSigned: boolean;
  readonly hasTrailer: boolean;
}

export const framings: ReadonlyMap<string, Framing> = new Map([
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD", { isSigned: true, hasTrailer: false }],
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { isSigned: true, hasTrailer: true }],
  ["STREAMING-UNSIGNED-PAYLOAD-TRAILER", { isSigned: false, hasTrailer: true }],
]);
