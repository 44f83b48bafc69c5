/** The options of each method: read once, in the order of the original, and held to their types. */
import { readChecksums } from "./checksum.ts";
import { readConditional } from "./conditional.ts";
import {
  coercedField,
  type Fields,
  textField,
  toInt,
  toOptions,
  wrongElement,
  wrongField,
} from "./convert.ts";
import { readCustomMetadata, readHttpMetadata } from "./metadata.ts";
import type { WireWrite } from "./protocol.ts";
import { readRange } from "./range.ts";
import { readSsecKey } from "./ssec-key.ts";

export function readGetOptions(value: unknown) {
  const given = toOptions(value, "GetOptions", "get", 2);
  return {
    onlyIf: readConditional(given["onlyIf"], "GetOptions"),
    range: readRange(given["range"]),
    ssecKey: readSsecKey(given["ssecKey"]),
  };
}

export function readPutOptions(value: unknown) {
  const given = toOptions(value, "PutOptions", "put", 3);
  return {
    onlyIf: readConditional(given["onlyIf"], "PutOptions"),
    metadata: readMetadata(given, "PutOptions"),
    checksums: readChecksums(given),
    storageClass: coercedField(given["storageClass"]),
    ssecKey: readSsecKey(given["ssecKey"]),
  };
}

export function readMultipartOptions(value: unknown) {
  const given = toOptions(value, "MultipartOptions", "createMultipartUpload", 2);
  return {
    metadata: readMetadata(given, "MultipartOptions"),
    storageClass: coercedField(given["storageClass"]),
    ssecKey: readSsecKey(given["ssecKey"]),
  };
}

export function readUploadPartOptions(value: unknown) {
  const given = toOptions(value, "UploadPartOptions", "uploadPart", 3, "StoreMultipartUpload");
  return { ssecKey: readSsecKey(given["ssecKey"]) };
}

export function readListOptions(value: unknown) {
  const given = toOptions(value, "ListOptions", "list", 1);
  const text = (field: string) => textField(given[field], field, "ListOptions");
  return {
    limit: limitField(given["limit"]),
    prefix: text("prefix"),
    cursor: text("cursor"),
    delimiter: text("delimiter"),
    startAfter: text("startAfter"),
    include: includeField(given["include"]),
  };
}

function readMetadata(given: Fields, struct: string): Pick<WireWrite, "http" | "custom"> {
  const http = readHttpMetadata(given["httpMetadata"], struct);
  const custom = readCustomMetadata(given["customMetadata"], struct);
  return { ...(http && { http }), ...(custom && { custom }) };
}

function limitField(value: unknown): number | undefined {
  return value === undefined ? undefined : toInt(value);
}

function includeField(value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongField("include", "ListOptions", "Array");
  return Array.from(value, (one: unknown, i) => {
    if (typeof one !== "string") throw wrongElement(i, "string");
    return one;
  });
}
