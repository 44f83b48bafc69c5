/** Bodies of requests: out of their framing, with all that they must add up to, ready for the core. */
import type { Body, ExpectedChecksum } from "#objects";
import { S3Fault } from "../fault.ts";
import { type ChunkedOptions, decodeChunked, decodeWhole } from "./aws-chunked.ts";
import { announcedChecksum, CHECKSUM, contentMd5, readChecksum, trailersOf } from "./checksums.ts";
import { ChunkSignatures } from "./chunk-signatures.ts";
import { type Framing, framings, type PayloadForm } from "./form.ts";

export { isChecksum, readChecksum } from "./checksums.ts";
export { type FormUpload, readForm } from "./form-data.ts";
export type { PayloadForm } from "./form.ts";

export interface Payload<B extends Body | Uint8Array = Body | Uint8Array> {
  /** All of it where it has come already. */
  readonly body: B;
  /** Null where the client does not say. */
  readonly length: number | null;
  /** The core holds the body against them as it passes. */
  readonly checksums: ExpectedChecksum[];
}

/**
 * Throws at once for what the head of the request has wrong, and for what is wrong with a body that is there; one
 * that is still to come throws as it is read.
 */
export function readPayload(octets: Body, form: PayloadForm): Payload<Body>;
export function readPayload(octets: Body | Uint8Array, form: PayloadForm): Payload;
export function readPayload(octets: Body | Uint8Array, form: PayloadForm): Payload {
  const framing = framings.get(form.sha256);
  if (framing !== undefined) return readChunked(octets, form, framing);
  const checksums: ExpectedChecksum[] = [];
  if (/^[0-9a-f]{64}$/i.test(form.sha256)) {
    checksums.push({ algorithm: "sha256", value: form.sha256.toLowerCase(), isKept: false });
  } else if (form.sha256 !== "UNSIGNED-PAYLOAD") throw badHash(form.sha256);
  const length = lengthOf(form);
  const announced = announcedChecksum(form, length);
  if (announced?.value === null) throw noTrailer();
  if (announced !== null) checksums.push({ ...announced, value: announced.value });
  return { body: octets, length, checksums: withMd5(checksums, form) };
}

function readChunked(
  octets: Body | Uint8Array,
  form: PayloadForm,
  { isSigned, hasTrailer }: Framing,
): Payload {
  const { headers, signing } = form;
  if (isSigned && signing === null) {
    throw new S3Fault("InvalidRequest", "Signed chunks need a signed request.");
  }
  const decoded = headers["x-amz-decoded-content-length"] ?? "";
  if (!/^\d{1,15}$/.test(decoded)) {
    const message = "You must provide the x-amz-decoded-content-length header.";
    throw new S3Fault("MissingContentLength", message);
  }
  const length = Number(decoded);
  const announced = announcedChecksum(form, length);
  if (announced?.value === null && !hasTrailer) throw noTrailer();
  let late: string | null = null;
  const options: ChunkedOptions = {
    length,
    signatures: isSigned ? new ChunkSignatures(signing!) : null,
    trailer: hasTrailer ? trailersOf(headers) : null,
    onTrailer(name, value) {
      if (name.startsWith(CHECKSUM)) late = readChecksum(name, value).value;
    },
  };
  const body =
    octets instanceof Uint8Array ? decodeWhole(octets, options) : decodeChunked(octets, options);
  const checksums: ExpectedChecksum[] = [];
  if (announced !== null) {
    const { algorithm, value } = announced;
    checksums.push({ algorithm, value: value ?? (() => late) });
  }
  return { body, length, checksums: withMd5(checksums, form) };
}

/** Differs from S3: a body in chunks of HTTP needs no length, since it tells its end by itself. */
function lengthOf({ headers }: PayloadForm): number | null {
  const given = headers["content-length"];
  if (given !== undefined) return Number(given); // Held to be a number by the parser.
  if (headers["transfer-encoding"] !== undefined) return null;
  throw new S3Fault("MissingContentLength");
}

function withMd5(checksums: ExpectedChecksum[], form: PayloadForm): ExpectedChecksum[] {
  const md5 = contentMd5(form);
  if (md5 !== null) checksums.push(md5);
  return checksums;
}

function noTrailer(): S3Fault {
  return new S3Fault(
    "InvalidRequest",
    "A trailer needs a body in chunks that have a place for it.",
  );
}

function badHash(sha256: string): S3Fault {
  if (sha256.startsWith("STREAMING-AWS4-ECDSA-")) {
    return new S3Fault("NotImplemented", `${sha256.slice(0, 80)} is not implemented.`);
  }
  const message =
    "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, one of the STREAMING- words, or a valid sha256 value.";
  const extra = { ArgumentName: "x-amz-content-sha256", ArgumentValue: sha256.slice(0, 80) };
  return new S3Fault("InvalidArgument", message, { extra });
}
