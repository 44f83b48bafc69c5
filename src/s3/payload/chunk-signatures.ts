/** The chain of signatures through the chunks of a body: each covers its data and the one before. */
import { createHash, type Hash } from "node:crypto";
import { sameDigest } from "#kit/secrets.ts";
import { EMPTY_PAYLOAD_HASH, sign } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import type { ChunkSigning } from "./form.ts";

export class ChunkSignatures {
  readonly #signing: ChunkSigning;
  #previous: string;
  #data: Hash = createHash("sha256");

  constructor(signing: ChunkSigning) {
    this.#signing = signing;
    this.#previous = signing.seed;
  }

  update(octets: Uint8Array): void {
    this.#data.update(octets);
  }

  /** Throws unless this is the signature of the chunk whose data has passed. */
  endChunk(signature: string): void {
    const digest = this.#data.digest("hex");
    this.#data = createHash("sha256");
    this.#check("AWS4-HMAC-SHA256-PAYLOAD", `${EMPTY_PAYLOAD_HASH}\n${digest}`, signature);
  }

  /** `lines` are those of the trailer, each as `name:value` and a line feed. */
  endTrailer(lines: string, signature: string): void {
    const digest = createHash("sha256").update(lines).digest("hex");
    this.#check("AWS4-HMAC-SHA256-TRAILER", digest, signature);
  }

  #check(kind: string, covered: string, signature: string): void {
    const { key, time, scope } = this.#signing;
    const toSign = `${kind}\n${time}\n${scope}\n${this.#previous}\n${covered}`;
    if (!sameDigest(sign(key, toSign), signature)) {
      const extra = { StringToSign: toSign, SignatureProvided: signature };
      throw new S3Fault("SignatureDoesNotMatch", undefined, { extra });
    }
    this.#previous = signature;
  }
}
