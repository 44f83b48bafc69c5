/** Copies an object: a get flows into a put. */
import { leave, type ObjectInfo, type PutOptions } from "#objects";
import type { S3Call } from "../call.ts";
import { ALGORITHMS, checksumElements, type S3Algorithm } from "../checksums.ts";
import { conditionsOf, writeRefusal } from "../conditions.ts";
import { customerKeyOf, encryptionHeaders } from "../encryption.ts";
import { withExpiration } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { writeOptionsOf } from "../write-options.ts";
import { isoTime, tag, xmlDocument } from "../xml/write.ts";
import { type CopySource, copySourceOf, openSource } from "./copy-source.ts";

export const copyObject: Operation = {
  name: "CopyObject",
  method: "PUT",
  on: "object",
  copies: true,
  action: "write",
  mayCreateBucket: true,
  takesLong: true,
  async handle(call, parts) {
    const { bucket, key } = call;
    const { store, now } = parts;
    const source = copySourceOf(call);
    const given = writeOptionsOf(call);
    const directives = directivesOf(call);
    const conditions =
      conditionsOf(call, now(), "cf-copy-destination-if") ?? conditionsOf(call, now());
    checkChange(call, source, directives, given);
    const found = await openSource(call, source, copyObject.name, parts);
    let object: ObjectInfo | null;
    try {
      object = await store.put(bucket, key, found.body, {
        ...mixed(found.object, given, directives),
        size: found.object.size,
        checksums: checksumsOf(call, found.object),
        cameBy: { kind: "copy", bucket: source.bucket, key: source.key },
        ...(conditions !== undefined && { conditions }),
      });
    } catch (error) {
      await leave(found.body);
      throw error;
    }
    if (object === null) throw writeRefusal(key, conditions, await store.head(bucket, key));
    const answer = xmlAnswer(
      xmlDocument(
        "CopyObjectResult",
        tag("LastModified", isoTime(object.uploadedAt)) +
          tag("ETag", `"${object.etag}"`) +
          checksumElements(object),
      ),
      encryptionHeaders(object.encryption),
    );
    return withExpiration(answer, store, bucket, object);
  },
};

interface Directives {
  readonly metadata: "COPY" | "REPLACE" | "MERGE";
  readonly tagging: "COPY" | "REPLACE";
}

function directivesOf(call: S3Call): Directives {
  return {
    // MERGE is R2's: the source's, with what the request gives in its place.
    metadata: directive(call, "x-amz-metadata-directive", ["COPY", "REPLACE", "MERGE"]),
    tagging: directive(call, "x-amz-tagging-directive", ["COPY", "REPLACE"]),
  };
}

function directive<Word extends string>(
  call: S3Call,
  header: string,
  words: readonly [Word, ...Word[]],
): Word {
  const given = call.header(header);
  if (given === undefined) return words[0];
  const word = words.find((one) => one === given.toUpperCase());
  if (word !== undefined) return word;
  throw new S3Fault("InvalidArgument", `Unknown ${header}.`, {
    extra: { ArgumentName: header, ArgumentValue: given.slice(0, 80) },
  });
}

/** An object that is copied onto itself must change by it. */
function checkChange(
  call: S3Call,
  source: CopySource,
  { metadata, tagging }: Directives,
  { storageClass, encryption }: PutOptions,
): void {
  const isSame = source.bucket === call.bucket.name && source.key === call.key;
  const isChanged =
    metadata !== "COPY" ||
    tagging !== "COPY" ||
    storageClass !== undefined ||
    encryption !== undefined ||
    customerKeyOf(call, "source") !== undefined || // What is not encrypted again is laid open.
    call.header("x-amz-checksum-algorithm") !== undefined;
  if (!isSame || isChanged) return;
  const message =
    "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.";
  throw new S3Fault("InvalidRequest", message);
}

/** What the copy carries: of the source, of the request, or of both. */
function mixed(
  source: ObjectInfo,
  given: PutOptions,
  { metadata, tagging }: Directives,
): PutOptions {
  const { http, custom, tags = {}, ...others } = given;
  const kept = { http: source.http, custom: source.custom };
  const replaced = { http: http ?? {}, custom: custom ?? {} };
  const merged = {
    http: { ...kept.http, ...replaced.http },
    custom: { ...kept.custom, ...replaced.custom },
  };
  return {
    ...others,
    ...{ COPY: kept, REPLACE: replaced, MERGE: merged }[metadata],
    tags: tagging === "REPLACE" ? tags : source.tags,
  };
}

/** The algorithms that the copy shall have: the one asked for, else those of the source. */
function checksumsOf(call: S3Call, source: ObjectInfo): { algorithm: S3Algorithm }[] {
  const asked = call.header("x-amz-checksum-algorithm")?.toLowerCase();
  if (asked === undefined) {
    const all = Object.keys(ALGORITHMS) as S3Algorithm[];
    return all
      .filter((algorithm) => source.checksums[algorithm] !== undefined)
      .map((algorithm) => ({ algorithm }));
  }
  if (Object.hasOwn(ALGORITHMS, asked)) return [{ algorithm: asked as S3Algorithm }];
  const message = `Checksum algorithm provided is unsupported: ${asked.slice(0, 80)}.`;
  throw new S3Fault("InvalidRequest", message);
}
