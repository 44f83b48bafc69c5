/** A part that is a range of another object. */
import { leave, ObjectFault, type StoredPart } from "#objects";
import { checksumElements } from "../checksums.ts";
import { customerKeyOf } from "../encryption.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { isoTime, tag, xmlDocument } from "../xml/write.ts";
import { checkWithin, copyRangeOf, copySourceOf, openSource } from "./copy-source.ts";
import { keyHeaders, partPlaceOf } from "./parts.ts";

export const uploadPartCopy: Operation = {
  name: "UploadPartCopy",
  method: "PUT",
  on: "object",
  resource: "uploadId",
  copies: true,
  action: "write",
  takes: ["partNumber"],
  takesLong: true,
  async handle(call, parts) {
    const { store, now } = parts;
    const { uploadId, partNumber } = partPlaceOf(call);
    const source = copySourceOf(call);
    const range = copyRangeOf(call);
    const encryption = customerKeyOf(call);
    const found = await openSource(call, source, uploadPartCopy.name, parts, range).catch(
      (error: unknown) => {
        const isOutside = error instanceof ObjectFault && error.kind === "bad-range";
        throw isOutside ? new S3Fault("InvalidRange") : error;
      },
    );
    if (range !== undefined) await checkWithin(found, range);
    let part: StoredPart;
    try {
      part = await store.uploadPart(call.bucket, call.key, uploadId, partNumber, found.body, {
        size: found.range.length,
        ...(encryption !== undefined && { encryption }),
      });
    } catch (error) {
      await leave(found.body);
      throw error;
    }
    return xmlAnswer(
      xmlDocument(
        "CopyPartResult",
        tag("LastModified", isoTime(now())) +
          tag("ETag", `"${part.etag}"`) +
          checksumElements({ checksums: part.checksums }),
      ),
      keyHeaders(call),
    );
  },
};
