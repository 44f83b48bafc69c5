/** Tags of an object: shown, set, taken away. */
import { TAGGING_ROOT, readTagging, writeTagging } from "../configurations/tagging-xml.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { readXml } from "../xml/read.ts";
import { checkVersion, noSuchKey } from "./object-place.ts";

/** Ten tags of the longest, and some room for blanks. */
const MAX_BODY = 64 * 1024;

const common = { on: "object", resource: "tagging", takes: ["versionId"] } as const;

export const getObjectTagging: Operation = {
  ...common,
  name: "GetObjectTagging",
  method: "GET",
  action: "read",
  async handle(call, { store }) {
    checkVersion(call);
    const object = await store.head(call.bucket, call.key);
    if (object === null) throw noSuchKey(call);
    return xmlAnswer(writeTagging(object.tags));
  },
};

export const putObjectTagging: Operation = {
  ...common,
  name: "PutObjectTagging",
  method: "PUT",
  action: "write",
  async handle(call, { store }) {
    checkVersion(call);
    const root = await readXml(call, MAX_BODY);
    if (root.name !== TAGGING_ROOT) throw new S3Fault("MalformedXML");
    const isThere = await store.setTags(call.bucket, call.key, readTagging(root));
    if (!isThere) throw noSuchKey(call);
    return {};
  },
};

export const deleteObjectTagging: Operation = {
  ...common,
  name: "DeleteObjectTagging",
  method: "DELETE",
  action: "write",
  async handle(call, { store }) {
    checkVersion(call);
    if (!(await store.setTags(call.bucket, call.key, {}))) throw noSuchKey(call);
    return { status: 204 };
  },
};
