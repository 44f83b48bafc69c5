/** What every driver takes for an id: lower-case hex, so that it is a safe file name and a safe key. */
import assert from "node:assert/strict";

const BLOB_ID = /^[0-9a-f]{8,64}$/;

export function isBlobId(text: string): boolean {
  return BLOB_ID.test(text);
}

export function assertBlobId(id: string): void {
  assert.ok(isBlobId(id), `"${id}" is not the id of a blob`);
}
