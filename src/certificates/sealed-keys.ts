/** Private keys as the database holds them: sealed, each for the certificate that it belongs to. */
import { seal, unseal } from "#kit/secrets.ts";

export function sealPrivateKey(
  sealKey: Uint8Array,
  certificateId: string,
  pem: string,
): Uint8Array {
  return seal(sealKey, labelOf(certificateId), pem);
}

/** Null when it was sealed with another key, or for another certificate. */
export function openPrivateKey(
  sealKey: Uint8Array,
  certificateId: string,
  sealed: Uint8Array,
): string | null {
  return unseal(sealKey, labelOf(certificateId), sealed);
}

function labelOf(certificateId: string): string {
  return `certificate ${certificateId}`;
}
