/** Deletes up to a thousand objects at once, and tells of each how it went. */
import { childText, type XmlElement } from "#kit/xml.ts";
import type { DeleteConditions } from "#objects";
import type { S3Call } from "../call.ts";
import { etagsOf } from "../conditions.ts";
import { toS3Fault } from "../errors.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, type S3Parts, xmlAnswer } from "../operation.ts";
import { readXml } from "../xml/read.ts";
import { group, tag, xmlDocument } from "../xml/write.ts";
import { readSize, readTime } from "./delete-object.ts";

const MAX_KEYS = 1_000;
/** Twice what a thousand of the longest keys need. */
const MAX_BODY = 2 * 1024 ** 2;
const MAX_KEY_OCTETS = 1_024;

interface Doomed {
  readonly key: string;
  readonly versionId: string | null;
  /** Null for one that goes whatever it is. */
  readonly conditions: DeleteConditions | null;
}

export const deleteObjects: Operation = {
  name: "DeleteObjects",
  method: "POST",
  on: "bucket",
  resource: "delete",
  action: "write",
  async handle(call, parts) {
    const root = await readXml(call, MAX_BODY);
    if (root.name !== "Delete") throw new S3Fault("MalformedXML");
    const isQuiet = childText(root, "Quiet")?.trim() === "true";
    const all = root.children.filter(({ name }) => name === "Object").map(readObject);
    if (all.length === 0 || all.length > MAX_KEYS) throw new S3Fault("MalformedXML");
    const refused = new Map<Doomed, S3Fault>();
    for (const one of all) {
      const fault = refusalOf(one, call);
      if (fault !== null) refused.set(one, fault);
    }
    await remove(
      all.filter((one) => !refused.has(one)),
      call,
      parts,
      refused,
    );
    const results = all.map((one) => resultOf(one, refused.get(one), isQuiet));
    return xmlAnswer(xmlDocument("DeleteResult", results.join("")));
  },
};

function readObject(element: XmlElement): Doomed {
  const key = childText(element, "Key");
  if (key === null || key === "") throw new S3Fault("MalformedXML");
  const etag = childText(element, "ETag");
  const size = childText(element, "Size");
  const time = childText(element, "LastModifiedTime");
  const isConditional = etag !== null || size !== null || time !== null;
  const conditions = {
    ...(etag !== null && { etagMatches: etagsOf(etag) }),
    ...(size !== null && { size: readSize(size) }),
    ...(time !== null && { uploadedAt: readTime(time), secondsGranularity: true }),
  };
  const versionId = childText(element, "VersionId");
  return { key, versionId, conditions: isConditional ? conditions : null };
}

/** What can be said of a key before anything is deleted. */
function refusalOf({ key, versionId }: Doomed, { caller, bucket }: S3Call): S3Fault | null {
  if (caller === null || !caller.may("write", bucket.name, key, deleteObjects.name)) {
    return new S3Fault("AccessDenied");
  }
  if (versionId !== null && versionId !== "" && versionId !== "null") {
    return new S3Fault("NoSuchVersion");
  }
  return Buffer.byteLength(key) > MAX_KEY_OCTETS ? new S3Fault("KeyTooLongError") : null;
}

/** Those without conditions go together, all or none; the others each by itself. */
async function remove(
  doomed: readonly Doomed[],
  { bucket }: S3Call,
  { store }: S3Parts,
  refused: Map<Doomed, S3Fault>,
): Promise<void> {
  const keys = doomed.filter((one) => one.conditions === null).map(({ key }) => key);
  if (keys.length > 0) await store.delete(bucket, keys);
  for (const one of doomed) {
    if (one.conditions === null) continue;
    try {
      const outcome = await store.deleteIf(bucket, one.key, one.conditions);
      if (outcome === "condition-failed") refused.set(one, new S3Fault("PreconditionFailed"));
    } catch (error) {
      const fault = toS3Fault(error);
      if (fault === null) throw error;
      refused.set(one, fault);
    }
  }
}

function resultOf(
  { key, versionId }: Doomed,
  fault: S3Fault | undefined,
  isQuiet: boolean,
): string {
  const place = tag("Key", key) + (versionId === null ? "" : tag("VersionId", versionId));
  if (fault === undefined) return isQuiet ? "" : group("Deleted", place);
  return group("Error", place + tag("Code", fault.code) + tag("Message", fault.message));
}
