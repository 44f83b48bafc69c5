/** Makes an object of the parts of an upload. No octet moves, so it never takes long. */
import { childText, type XmlElement } from "#kit/xml.ts";
import type { ChecksumType, NamedChecksum, UploadedPart } from "#objects";
import type { S3Call } from "../call.ts";
import { ALGORITHMS, checksumElements, type S3Algorithm, typeWord } from "../checksums.ts";
import { conditionsOf, writeRefusal } from "../conditions.ts";
import { customerKeyOf, encryptionHeaders } from "../encryption.ts";
import { withExpiration } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { readXml } from "../xml/read.ts";
import { tag, xmlDocument } from "../xml/write.ts";
import { readSize } from "./delete-object.ts";
import { readPartNumber } from "./object-place.ts";

/** Ten thousand parts, each with a checksum, and some room for blanks. */
const MAX_BODY = 4 * 1024 ** 2;

export const completeMultipartUpload: Operation = {
  name: "CompleteMultipartUpload",
  method: "POST",
  on: "object",
  resource: "uploadId",
  action: "write",
  async handle(call, { store, now }) {
    const { bucket, key } = call;
    const conditions = conditionsOf(call, now());
    const encryption = customerKeyOf(call);
    const checksum = wholeChecksum(call);
    const checksumType = readType(call.header("x-amz-checksum-type"));
    const size = call.header("x-amz-mp-object-size");
    const parts = partsOf(await readXml(call, MAX_BODY, { apart: true }));
    const object = await store.completeUpload(bucket, key, call.query("uploadId")!, parts, {
      evenParts: false,
      ...(conditions !== undefined && { conditions }),
      ...(encryption !== undefined && { encryption }),
      ...(checksum !== null && { checksum }),
      ...(checksumType !== undefined && { checksumType }),
      ...(size !== undefined && { size: readSize(size) }),
    });
    if (object === null) throw writeRefusal(key, conditions, await store.head(bucket, key));
    const answer = xmlAnswer(
      xmlDocument(
        "CompleteMultipartUploadResult",
        tag("Location", locationOf(call)) +
          tag("Bucket", bucket.name) +
          tag("Key", key) +
          tag("ETag", `"${object.etag}"`) +
          checksumElements(object),
      ),
      encryptionHeaders(object.encryption),
    );
    return withExpiration(answer, store, bucket, object);
  },
};

function partsOf(root: XmlElement): UploadedPart[] {
  const isKnown = ["CompleteMultipartUpload", "CompleteMultipartUploadResult"].includes(root.name);
  if (!isKnown || root.children.length === 0) throw new S3Fault("MalformedXML");
  const parts = root.children.map(readPart);
  for (const [i, { partNumber }] of parts.entries()) {
    if (i > 0 && partNumber <= parts[i - 1]!.partNumber) throw new S3Fault("InvalidPartOrder");
  }
  return parts;
}

function readPart(element: XmlElement): UploadedPart {
  const number = childText(element, "PartNumber");
  const etag = childText(element, "ETag");
  if (element.name !== "Part" || number === null || etag === null) {
    throw new S3Fault("MalformedXML");
  }
  const checksum = partChecksum(element);
  return {
    partNumber: readPartNumber(number.trim()),
    etag: etag.trim().replaceAll(/^"|"$/g, ""),
    ...(checksum !== null && { checksum }),
  };
}

function partChecksum(element: XmlElement): NamedChecksum | null {
  for (const [algorithm, word] of Object.entries(ALGORITHMS)) {
    const text = childText(element, `Checksum${word}`);
    if (text !== null) return named(algorithm, text);
  }
  return null;
}

/** What the whole object must add up to; one of parts' checksums has their number behind it. */
function wholeChecksum(call: S3Call): NamedChecksum | null {
  for (const algorithm of Object.keys(ALGORITHMS)) {
    const text = call.header(`x-amz-checksum-${algorithm}`);
    if (text !== undefined) return named(algorithm, text.replace(/-\d+$/, ""));
  }
  return null;
}

function readType(word: string | undefined): ChecksumType | undefined {
  if (word === undefined) return undefined;
  const type = TYPES.find((one) => typeWord(one) === word.toUpperCase());
  if (type !== undefined) return type;
  throw new S3Fault("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
}

const TYPES: readonly ChecksumType[] = ["composite", "full"];

function named(algorithm: string, text: string): NamedChecksum {
  const value = Buffer.from(text.trim(), "base64").toString("hex");
  return { algorithm: algorithm as S3Algorithm, value };
}

function locationOf({ request, target }: S3Call): string {
  return `http://${request.headers.host ?? ""}${target.path}`;
}
