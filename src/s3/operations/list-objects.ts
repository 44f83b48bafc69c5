/** The objects of a bucket in pages: ListObjects, its second version, and the one that shows versions. */
import type { ListOptions, ListPage, ObjectInfo } from "#objects";
import type { S3Call } from "../call.ts";
import { algorithmElements } from "../checksums.ts";
import { countOf, encodingOf, type ListEncoding } from "../encoding.ts";
import { S3Fault } from "../fault.ts";
import { classWord } from "../object-metadata.ts";
import { type Operation, type S3Parts, xmlAnswer } from "../operation.ts";
import { group, isoTime, tag, xmlDocument } from "../xml/write.ts";
import { ownerElement } from "./owner.ts";

const MAX_PAGE = 1_000;

const COMMON = ["prefix", "delimiter", "encoding-type", "max-keys"];

/** `mc find` and `mc mirror` would have it in their lists, as MinIO alone does, and do without, as on S3. */
const WITH_METADATA = "metadata";

export const listObjects: Operation = {
  name: "ListObjects",
  method: "GET",
  on: "bucket",
  action: "list",
  takes: [...COMMON, "marker"],
  async handle(call, parts) {
    const asked = askedOf(call);
    const marker = call.query("marker") ?? "";
    const page = await pageOf(call, parts, asked, { startAfter: marker });
    const { encoding } = asked;
    return xmlAnswer(
      xmlDocument(
        "ListBucketResult",
        headOf(call, asked, page) +
          tag("Marker", encoding.show(marker)) +
          (page.last === null ? "" : tag("NextMarker", encoding.show(page.last))) +
          contents(page, encoding, call.bucket.accountId) +
          prefixes(page, encoding),
      ),
    );
  },
};

export const listObjectsV2: Operation = {
  name: "ListObjectsV2",
  method: "GET",
  on: "bucket",
  resource: "list-type",
  action: "list",
  takes: [...COMMON, "start-after", "continuation-token", "fetch-owner", WITH_METADATA],
  async handle(call, parts) {
    if (call.query("list-type") !== "2") {
      throw new S3Fault("InvalidArgument", "There is no such type of list.", {
        extra: { ArgumentName: "list-type" },
      });
    }
    const asked = askedOf(call);
    const token = call.query("continuation-token");
    const startAfter = call.query("start-after");
    // A token knows where the start was.
    const page = await pageOf(
      call,
      parts,
      asked,
      token === undefined || token === "" ? { startAfter: startAfter ?? "" } : { cursor: token },
    );
    const { encoding } = asked;
    const owner = call.query("fetch-owner") === "true" ? call.bucket.accountId : null;
    return xmlAnswer(
      xmlDocument(
        "ListBucketResult",
        headOf(call, asked, page) +
          tag("KeyCount", page.objects.length + page.prefixes.length) +
          tag("ContinuationToken", token) +
          tag("NextContinuationToken", page.cursor) +
          (startAfter === undefined ? "" : tag("StartAfter", encoding.show(startAfter))) +
          contents(page, encoding, owner) +
          prefixes(page, encoding),
      ),
    );
  },
};

/** Each object has the one version that S3 calls `null`. */
export const listObjectVersions: Operation = {
  name: "ListObjectVersions",
  method: "GET",
  on: "bucket",
  resource: "versions",
  action: "list",
  takes: [...COMMON, "key-marker", "version-id-marker", WITH_METADATA],
  async handle(call, parts) {
    const asked = askedOf(call);
    const marker = call.query("key-marker") ?? "";
    const page = await pageOf(call, parts, asked, { startAfter: marker });
    const { encoding } = asked;
    const owner = call.bucket.accountId;
    const versions = page.objects.map((object) =>
      group(
        "Version",
        tag("VersionId", "null") + tag("IsLatest", true) + described(object, encoding, owner),
      ),
    );
    const next =
      page.last === null
        ? ""
        : tag("NextKeyMarker", encoding.show(page.last)) + tag("NextVersionIdMarker", "null");
    return xmlAnswer(
      xmlDocument(
        "ListVersionsResult",
        headOf(call, asked, page) +
          tag("KeyMarker", encoding.show(marker)) +
          tag("VersionIdMarker", call.query("version-id-marker") ?? "") +
          next +
          versions.join("") +
          prefixes(page, encoding),
      ),
    );
  },
};

interface Asked {
  readonly prefix: string;
  readonly delimiter: string;
  readonly limit: number;
  readonly encoding: ListEncoding;
}

/** A page, and the name at its end where another follows: a marker for those lists that have no tokens. */
interface Page extends ListPage {
  readonly last: string | null;
}

function askedOf(call: S3Call): Asked {
  return {
    prefix: call.query("prefix") ?? "",
    delimiter: call.query("delimiter") ?? "",
    limit: countOf(call, "max-keys", MAX_PAGE),
    encoding: encodingOf(call),
  };
}

async function pageOf(
  { bucket }: S3Call,
  { store }: S3Parts,
  { prefix, delimiter, limit }: Asked,
  from: Pick<ListOptions, "startAfter" | "cursor">,
): Promise<Page> {
  if (limit === 0) return { objects: [], prefixes: [], cursor: null, last: null };
  const { startAfter, cursor } = from;
  const page = await store.list(bucket, {
    limit,
    metadata: false,
    ...(prefix !== "" && { prefix }),
    ...(delimiter !== "" && { delimiter }),
    ...(startAfter && { startAfter: pastGroup(startAfter, prefix, delimiter) }),
    ...(cursor !== undefined && { cursor }),
  });
  return { ...page, last: page.cursor === null ? null : lastOf(page) };
}

/** No key of a group lies behind its name with so many of the last character of all. */
const BEHIND_GROUP = "\u{10FFFF}".repeat(256);

/** A marker within a group, or its name, stands for all of it. */
function pastGroup(marker: string, prefix: string, delimiter: string): string {
  if (delimiter === "" || !marker.startsWith(prefix)) return marker;
  const at = marker.indexOf(delimiter, prefix.length);
  return at === -1 ? marker : marker.slice(0, at + delimiter.length) + BEHIND_GROUP;
}

/** The name that a page ends with: keys and groups come in one order. */
function lastOf({ objects, prefixes }: ListPage): string {
  const key = objects.at(-1)?.key ?? "";
  const group = prefixes.at(-1) ?? "";
  return Buffer.compare(Buffer.from(key), Buffer.from(group)) > 0 ? key : group;
}

function headOf({ bucket }: S3Call, asked: Asked, { cursor }: Page): string {
  const { prefix, delimiter, limit, encoding } = asked;
  return (
    tag("Name", bucket.name) +
    tag("Prefix", encoding.show(prefix)) +
    tag("MaxKeys", limit) +
    (delimiter === "" ? "" : tag("Delimiter", encoding.show(delimiter))) +
    tag("IsTruncated", cursor !== null) +
    tag("EncodingType", encoding.word)
  );
}

function contents({ objects }: Page, encoding: ListEncoding, owner: string | null): string {
  let elements = "";
  for (const object of objects) elements += group("Contents", described(object, encoding, owner));
  return elements;
}

function described(object: ObjectInfo, { show }: ListEncoding, owner: string | null): string {
  return (
    tag("Key", show(object.key)) +
    tag("LastModified", isoTime(object.uploadedAt)) +
    tag("ETag", `"${object.etag}"`) +
    algorithmElements(object) +
    tag("Size", object.size) +
    tag("StorageClass", classWord(object.storageClass)) +
    (owner === null ? "" : ownerElement(owner))
  );
}

export function prefixes(
  { prefixes }: { readonly prefixes: readonly string[] },
  { show }: ListEncoding,
): string {
  let elements = "";
  for (const prefix of prefixes) elements += group("CommonPrefixes", tag("Prefix", show(prefix)));
  return elements;
}
